extension CultureText {
  static let latin: [CultureText] = [
    CultureText(
      country: "US", countryName: "United States", weight: 30,
      firstNames: """
        James,Mary,John,Linda,Robert,Susan,Michael,Karen,David,Nancy,William,Emily,Daniel,Sarah,Joseph,Laura,Thomas,Anna,Charles,Grace,Kevin,\
        Rachel,Brian,Megan,Jason,Amber,Eric,Hannah,Jacob,Olivia,Ethan,Chloe,Tyler,Zoë,Renée,DeShawn,Aaliyah,Mary Ann,Jean-Luc,O’Neil,Xavier,Ingrid
        """,
      lastNames: """
        Smith,Johnson,Williams,Brown,Jones,Garcia,Miller,Davis,Wilson,Anderson,Taylor,Thomas,Moore,Martin,Jackson,Lee,White,Harris,Clark,Lewis,\
        Walker,Hall,Young,Allen,King,Wright,Scott,Green,Baker,Adams,Nelson,Hill,Campbell,Mitchell,Roberts,Carter,Phillips,Evans,Turner,Parker,\
        O'Brien,O'Connor,McDonald,St. James,De La Cruz,van der Berg,Nguyen,Kim
        """,
      heads:
        "Ash,Black,Brook,Cald,Dun,East,Fair,Green,Hart,Hazel,Kirk,Lang,Mal,North,Oak,Pem,Rad,Red,Sand,Thorn,Under,Wake,West,Whit,Win,Wood",
      tails: "ford,field,ton,wood,ley,worth,by,well,burn,more,ridge,wick,stead,croft,shaw,dale", doubleNamesPerMille: 25,
      cities: """
        Springfield/Illinois,Portland/Oregon,Columbus/Ohio,Austin/Texas,Denver/Colorado,Boston/Massachusetts,Madison/Wisconsin,Tampa/Florida,\
        Salem/Oregon,Richmond/Virginia,Fargo/North Dakota,Boise/Idaho,Albany/New York,Savannah/Georgia,Topeka/Kansas,Reno/Nevada,\
        Winston-Salem/North Carolina,St. Paul/Minnesota,Coeur d'Alene/Idaho,San José/California
        """,
      streets: """
        Lantern Street,Quill Avenue,Marmalade Lane,Copperleaf Drive,Foxglove Road,Saltbox Court,Pinwheel Way,Larkspur Boulevard,Gannet Street,\
        Oxbow Road,Tamarack Avenue,Windlass Lane,Juniper Hollow Road,Teasel Place,Nightjar Terrace,Rushlight Street
        """,
      unit: "Apt", postal: "99999", legalForms: "Inc.,LLC,Corp.,Co."),
    CultureText(
      country: "GB", countryName: "United Kingdom", weight: 10,
      firstNames: """
        Oliver,Amelia,Harry,Isla,George,Ava,Jack,Emily,Arthur,Sophie,Alfie,Poppy,Rhys,Siân,Callum,Eilidh,Gareth,Bronwen,Nigel,Fiona,Hamish,Niamh,\
        Seán,Aoife,Graham,Moira
        """,
      lastNames: """
        Smith,Jones,Taylor,Brown,Williams,Wilson,Johnson,Davies,Patel,Robinson,Wright,Thompson,Evans,Walker,White,Roberts,Green,Hall,Wood,\
        Clarke,Hughes,MacDonald,O'Neill,Ó Murchú,ap Rhys,Featherstonehaugh,Khan,Singh
        """,
      heads: "Ains,Barn,Chats,Dews,Egre,Frob,Grims,Hather,Ilks,Kesh,Lyth,Mable,Nant,Ormes,Pock,Quar,Rother,Skel,Thwait,Ulver",
      tails: "worth,ley,by,thorpe,bury,combe,den,ham,stone,wick,side,hurst", doubleNamesPerMille: 40,
      cities: """
        London/Greater London,Leeds/West Yorkshire,York/North Yorkshire,Bath/Somerset,Cardiff/Wales,Glasgow/Scotland,Norwich/Norfolk,Derby/Derbyshire,\
        Exeter/Devon,Stoke-on-Trent/Staffordshire,King's Lynn/Norfolk,Belfast/Northern Ireland
        """,
      streets: """
        Quill Row,Lantern Hill,Teasel Close,Marmalade Mews,Wherry Lane,Inkwell Gardens,Thistle Crescent,Jackdaw Road,Cinder Path,Verbena Court,\
        Moorhen Way,Nettle Street
        """,
      unit: "Flat", postal: "AA9 9AA", legalForms: "Ltd,PLC,LLP", phones: .britain),
    CultureText(
      country: "DE", countryName: "Deutschland", weight: 10,
      firstNames: """
        Lukas,Anna,Jonas,Lena,Felix,Mia,Paul,Jürgen,Björn,Käthe,Sören,Jörg,Heike,Günter,Ursula,Uwe,Sabine,Wolfgang,Renate,Matthias,Hans-Peter,\
        Anna-Lena,Cäcilie,Götz,Stefan,Petra
        """,
      lastNames: """
        Müller,Schmidt,Schneider,Fischer,Weber,Meyer,Wagner,Becker,Schulz,Hoffmann,Schäfer,Koch,Bauer,Richter,Klein,Wolf,Schröder,Neumann,Schwarz,\
        Braun,Krüger,Hofmann,Weiß,Lange,Großmann,Köhler,von der Heide,Jäger,Vogel,Groß
        """,
      heads: "Alten,Birken,Dorn,Eichen,Falken,Grün,Hasel,Königs,Linden,Mühl,Ober,Pfaffen,Rosen,Stein,Tannen,Unter,Weiden,Wolken",
      tails: "bach,berg,feld,hausen,mann,hoff,stein,brück,thal,wald,meier,huber", doubleNamesPerMille: 50,
      cities: """
        Berlin/Berlin,München/Bayern,Köln/Nordrhein-Westfalen,Hamburg/Hamburg,Leipzig/Sachsen,Görlitz/Sachsen,Lübeck/Schleswig-Holstein,\
        Fürth/Bayern,Kassel/Hessen,Tübingen/Baden-Württemberg,Mainz/Rheinland-Pfalz,Halle (Saale)/Sachsen-Anhalt
        """,
      streets: """
        Laternenweg,Federkielstraße,Marmeladengasse,Kupferblattallee,Fingerhutweg,Salzkistenplatz,Windradstraße,Tintenfassgasse,Dohlensteig,\
        Brennnesselweg,Am Alten Sägewerk,Straße der Lerchen
        """,
      streetStyle: .numberLast, unit: "Whg.", postal: "99999", legalForms: "GmbH,AG,GmbH & Co. KG,e.K.", phones: .germany),
    CultureText(
      country: "FR", countryName: "France", weight: 8,
      firstNames: """
        Jean,Marie,Léa,Hugo,Chloé,Lucas,Inès,Théo,Zoé,François,Hélène,Benoît,Amélie,Gaëlle,Loïc,Maëlys,Jérôme,Cécile,Noël,Anaïs,Jean-Baptiste,\
        Marie-Ève,Solène,Raphaël,Édouard
        """,
      lastNames: """
        Martin,Bernard,Dubois,Thomas,Robert,Petit,Durand,Leroy,Moreau,Lefèvre,Garçon,Rousseau,Fournier,Mercier,Guérin,Béranger,Gauthier,Chevalier,\
        D'Angelo,de La Tour,L'Hôpital,Légaré,Nöel,Lemaître
        """,
      heads: "Beau,Bois,Champ,Clair,Fon,Grand,Haute,Mont,Noir,Saint-,Val,Ville",
      tails: "bourg,court,fort,mont,neuve,pré,ville,lieu,champ,rive",
      doubleNamesPerMille: 40,
      cities: """
        Paris/Île-de-France,Lyon/Auvergne-Rhône-Alpes,Nîmes/Occitanie,Orléans/Centre-Val de Loire,Besançon/Bourgogne-Franche-Comté,Lille/Hauts-de-France,\
        Brest/Bretagne,Angoulême/Nouvelle-Aquitaine,L'Haÿ-les-Roses/Île-de-France,Saint-Étienne/Auvergne-Rhône-Alpes
        """,
      streets: """
        rue de la Lanterne Bleue,avenue des Martinets,impasse du Coing,rue de l'Encrier,allée des Feuilles de Cuivre,place du Moulin à Vent,\
        quai des Nénuphars,rue Grande Ourse,chemin des Ajoncs,cours de la Marmelade
        """,
      unit: "Bât.", postal: "99999", legalForms: "SARL,SA,SAS", phones: .france),
    CultureText(
      country: "ES", countryName: "España", weight: 7,
      firstNames: """
        María,José,Antonio,Carmen,Lucía,Javier,Sofía,Álvaro,Begoña,Íñigo,Martín,Nuria,Ángel,Pilar,Joaquín,Inés,Óscar,Concepción,Andrés,Núria,\
        José María,María del Mar,Ximena,Raúl
        """,
      lastNames: """
        García,Fernández,González,Rodríguez,López,Martínez,Sánchez,Pérez,Gómez,Martín,Jiménez,Ruiz,Hernández,Díaz,Moreno,Muñoz,Álvarez,Romero,\
        Alonso,Gutiérrez,Núñez,Ibáñez,Peña,de la Fuente
        """,
      doubleNamesPerMille: 450,
      cities: """
        Madrid/Madrid,Sevilla/Andalucía,Málaga/Andalucía,A Coruña/Galicia,Zaragoza/Aragón,León/Castilla y León,Cádiz/Andalucía,Logroño/La Rioja,\
        Vitoria-Gasteiz/Euskadi,L'Hospitalet/Catalunya
        """,
      streets: """
        Calle del Farol Azul,Avenida de la Pluma,Paseo de los Vencejos,Plaza del Membrillo,Calle Tintero,Camino de la Retama,Ronda del Molinillo,\
        Travesía de la Ñ,Calle Hoja de Cobre
        """,
      streetStyle: .numberAfterComma, unit: "Piso", postal: "99999", legalForms: "S.L.,S.A.", phones: .france),
    CultureText(
      country: "BR", countryName: "Brasil", weight: 6,
      firstNames: """
        João,Maria,Ana,Pedro,Luís,Júlia,Antônio,Beatriz,Caetano,Conceição,Érica,Fábio,Gonçalo,Inês,Letícia,Márcio,Patrícia,Sebastião,Thaís,Vitória
        """,
      lastNames: """
        Silva,Santos,Oliveira,Souza,Rodrigues,Ferreira,Alves,Pereira,Lima,Gomes,Costa,Ribeiro,Martins,Carvalho,Araújo,Magalhães,Conceição,\
        Simões,d'Ávila,dos Anjos
        """,
      doubleNamesPerMille: 300,
      cities: """
        São Paulo/São Paulo,Brasília/Distrito Federal,Goiânia/Goiás,Belém/Pará,Florianópolis/Santa Catarina,Niterói/Rio de Janeiro,\
        Maceió/Alagoas,Curitiba/Paraná
        """,
      streets: """
        Rua da Lanterna,Avenida das Andorinhas,Travessa do Marmelo,Rua do Tinteiro,Alameda Folha de Cobre,Praça do Cata-Vento,Rua das Maçãs Verdes
        """,
      streetStyle: .numberAfterComma, unit: "Apto", postal: "99999-999", legalForms: "Ltda.,S.A."),
    CultureText(
      country: "IT", countryName: "Italia", weight: 4,
      firstNames:
        "Giulia,Marco,Francesca,Luca,Chiara,Matteo,Niccolò,Letizia,Andrea,Mattia,Noemi,Salvatore,Concetta,Nicolò,Beatrice,Gian Luca",
      lastNames: "Rossi,Russo,Ferrari,Esposito,Bianchi,Romano,Colombo,Ricci,Greco,Conti,De Luca,D'Amico,Lo Presti,Cantù,Forlì,Nicolò",
      heads: "Bel,Bon,Campo,Castel,Fonta,Monte,Pietra,Torre,Valle,Villa", tails: "bella,forte,longo,nova,rossa,santa,verde,vecchia",
      cities:
        "Roma/Lazio,Milano/Lombardia,Forlì/Emilia-Romagna,Cantù/Lombardia,Torino/Piemonte,Bari/Puglia,L'Aquila/Abruzzo,Cefalù/Sicilia",
      streets:
        "Via della Lanterna,Viale dei Rondoni,Piazza Mela Cotogna,Via Calamaio,Vicolo Foglia di Rame,Corso Mulinello,Via dell'Ortica",
      streetStyle: .numberLast, unit: "Int.", postal: "99999", legalForms: "S.r.l.,S.p.A.", phones: .germany),
    CultureText(
      country: "PL", countryName: "Polska", weight: 5,
      firstNames:
        "Anna,Piotr,Łukasz,Małgorzata,Krzysztof,Agnieszka,Paweł,Żaneta,Michał,Katarzyna,Grażyna,Sławomir,Świętosława,Jędrzej,Bożena,Zbigniew",
      lastNames: """
        Nowak,Kowalska,Wiśniewski,Wójcik,Kamińska,Lewandowski,Zielińska,Szymański,Woźniak,Dąbrowska,Kozłowski,Jankowska,Mazur,Krawczyk,Śliwa,\
        Żuk,Łącki,Ćwik
        """,
      heads: "Brzoz,Czarn,Dębow,Gór,Jawor,Lipow,Malin,Orl,Piask,Sosn,Wierzb,Zar", tails: "owski,icka,ański,ecki,ewicz,yński,awska,ak",
      doubleNamesPerMille: 40,
      cities:
        "Kraków/małopolskie,Łódź/łódzkie,Gdańsk/pomorskie,Wrocław/dolnośląskie,Poznań/wielkopolskie,Świdnica/dolnośląskie,Białystok/podlaskie",
      streets:
        "ul. Latarniana,ul. Gęsiego Pióra,al. Jerzyków,pl. Pigwowy,ul. Kałamarzowa,ul. Miedzianego Liścia,os. Wiatraczne,ul. Pokrzywowa",
      streetStyle: .numberLast, unit: "m.", postal: "99-999", legalForms: "sp. z o.o.,S.A.", phones: .britain),
    CultureText(
      country: "SE", countryName: "Sverige", weight: 3,
      firstNames: "Erik,Anna,Lars,Åsa,Björn,Märta,Göran,Linnéa,Håkan,Ylva,Östen,Maja,Sören,Kerstin,Åke,Ingrid",
      lastNames: "Andersson,Johansson,Karlsson,Nilsson,Eriksson,Larsson,Olsson,Åberg,Öberg,Sjöström,Lindström,Ångström,Björk,Ek,Österlund",
      heads: "Berg,Björk,Dal,Ek,Fors,Gran,Hög,Lind,Lund,Norr,Ny,Sjö,Ström,Söder,Väster,Öst",
      tails: "berg,gren,kvist,lund,man,mark,ström,stedt,dahl",
      cities: "Stockholm/Stockholms län,Göteborg/Västra Götaland,Malmö/Skåne,Umeå/Västerbotten,Örebro/Örebro län,Växjö/Kronoberg",
      streets: "Lyktgatan,Fjäderpennevägen,Tornsvalegränd,Kvittenstigen,Bläckhornsgatan,Kopparbladsvägen,Väderkvarnsplan,Nässelvägen",
      streetStyle: .numberLast, unit: "lgh", postal: "999 99", legalForms: "AB,HB", phones: .australia),
    CultureText(
      country: "TR", countryName: "Türkiye", weight: 2,
      firstNames: "Mehmet,Ayşe,Mustafa,Fatma,İbrahim,Gülşen,Çağla,Oğuz,Işıl,Ömer,Şebnem,Yiğit,Özlem,Irmak",
      lastNames: "Yılmaz,Kaya,Demir,Şahin,Çelik,Yıldız,Öztürk,Aydın,Özdemir,Arslan,Doğan,Kılıç,Işık,İnce,Güneş",
      cities: "İstanbul/İstanbul,Ankara/Ankara,İzmir/İzmir,Eskişehir/Eskişehir,Iğdır/Iğdır,Muğla/Muğla",
      streets: "Fener Sokak,Kaz Tüyü Caddesi,Ebabil Yolu,Ayva Çıkmazı,Mürekkep Sokak,Bakır Yaprak Caddesi,Isırgan Sokak",
      streetStyle: .numberLast, unit: "Daire", postal: "99999", legalForms: "A.Ş.,Ltd. Şti.", phones: .germany),
    CultureText(
      country: "VN", countryName: "Việt Nam", weight: 2,
      firstNames: "Anh,Linh,Đức=Duc,Hương=Huong,Minh,Thảo,Quốc=Quoc,Phương=Phuong,Hải=Hai,Ngọc,Tuấn=Tuan,Mỹ Duyên=My Duyen",
      lastNames: "Nguyễn=Nguyen,Trần=Tran,Lê,Phạm=Pham,Hoàng,Huỳnh,Võ,Đặng=Dang,Bùi,Đỗ=Do,Hồ=Ho,Dương",
      cities: "Hà Nội=Ha Noi/Hà Nội=Ha Noi,Huế=Hue/Thừa Thiên=Thua Thien,Đà Nẵng=Da Nang/Đà Nẵng=Da Nang,Cần Thơ=Can Tho/Cần Thơ=Can Tho",
      streets: "Đường Đèn Lồng,Đường Chim Én,Ngõ Mộc Qua,Phố Lọ Mực,Đường Lá Đồng,Ngõ Tầm Ma", unit: "P.", postal: "999999",
      legalForms: "TNHH,JSC", phones: .australia),
  ]
}
