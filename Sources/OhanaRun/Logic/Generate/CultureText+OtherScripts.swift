extension CultureText {
  static let all = latin + otherScripts

  static let otherScripts: [CultureText] = [
    CultureText(
      country: "GR", countryName: "Ελλάδα", weight: 2,
      firstNames: """
        Γιώργος=Giorgos,Μαρία=Maria,Νίκος=Nikos,Ελένη=Eleni,Κώστας=Kostas,Αικατερίνη=Aikaterini,Δημήτρης=Dimitris,Σοφία=Sofia,Ιωάννης=Ioannis,\
        Ζωή=Zoi
        """,
      lastNames: """
        Παπαδόπουλος=Papadopoulos,Βλάχος=Vlachos,Αγγελόπουλος=Angelopoulos,Νικολαΐδης=Nikolaidis,Γεωργίου=Georgiou,Οικονόμου=Oikonomou,\
        Αντωνίου=Antoniou,Μακρής=Makris,Καραγιάννης=Karagiannis
        """,
      cities: "Αθήνα=Athina/Αττική=Attiki,Θεσσαλονίκη=Thessaloniki/Μακεδονία=Makedonia,Πάτρα=Patra/Αχαΐα=Achaia,Χανιά=Chania/Κρήτη=Kriti",
      streets: "Οδός Φαναριού,Οδός Χελιδονιών,Οδός Κυδωνιάς,Οδός Μελανοδοχείου,Λεωφόρος Ανεμόμυλου", streetStyle: .numberLast,
      unit: "Διαμ.",
      postal: "999 99", legalForms: "Α.Ε.,Ε.Π.Ε.", phones: .britain),
    CultureText(
      country: "UA", countryName: "Україна", weight: 2,
      firstNames: """
        Олександр=Oleksandr,Марія=Mariia,Андрій=Andrii,Олена=Olena,Сергій=Serhii,Наталія=Nataliia,Ігор=Ihor,Юлія=Yuliia,Богдан=Bohdan,\
        Ганна=Hanna,Євген=Yevhen,Їжак=Yizhak
        """,
      lastNames: """
        Шевченко=Shevchenko,Коваленко=Kovalenko,Бондаренко=Bondarenko,Ткаченко=Tkachenko,Кравченко=Kravchenko,Олійник=Oliinyk,Мельник=Melnyk,\
        Поліщук=Polishchuk,Лисенко=Lysenko,Щербак=Shcherbak
        """,
      cities:
        "Київ=Kyiv/Київ=Kyiv,Львів=Lviv/Львівська=Lviv,Одеса=Odesa/Одеська=Odesa,Харків=Kharkiv/Харківська=Kharkiv,Їжаківка=Yizhakivka/Сумська=Sumy",
      streets: "вул. Ліхтарна,вул. Стрижів,просп. Гусячого Пера,пров. Айвовий,вул. Каламарна,вул. Мідного Листка",
      streetStyle: .numberAfterComma,
      unit: "кв.", postal: "99999", legalForms: "ТОВ,ПП", phones: .germany),
    CultureText(
      country: "EG", countryName: "مصر", weight: 2,
      firstNames: "محمد=Mohamed,فاطمة=Fatma,أحمد=Ahmed,مريم=Mariam,يوسف=Youssef,ليلى=Laila,عمر=Omar,نور=Nour,خالد=Khaled,هدى=Hoda",
      lastNames: "حسن=Hassan,إبراهيم=Ibrahim,السيد=El Sayed,عبد الله=Abdallah,منصور=Mansour,سالم=Salem,النجار=El Naggar,فاروق=Farouk",
      cities: "القاهرة=Cairo/القاهرة=Cairo,الإسكندرية=Alexandria/الإسكندرية=Alexandria,أسوان=Aswan/أسوان=Aswan",
      streets: "شارع الفانوس,شارع السنونو,حارة السفرجل,شارع المحبرة,شارع ورق النحاس", streetStyle: .numberLast, unit: "شقة",
      postal: "99999",
      legalForms: "ش.م.م", phones: .france),
    CultureText(
      country: "IL", countryName: "ישראל", weight: 1,
      firstNames: "יוסף=Yosef,מרים=Miriam,דוד=David,שרה=Sarah,נועם=Noam,תמר=Tamar,איתן=Eitan,מאיה=Maya",
      lastNames: "כהן=Cohen,לוי=Levi,מזרחי=Mizrahi,פרץ=Peretz,ביטון=Biton,אברהם=Avraham,בן דוד=Ben David",
      cities: "חיפה=Haifa/חיפה=Haifa,אילת=Eilat/הדרום=South,נצרת=Nazareth/הצפון=North",
      streets: "רחוב הפנס,רחוב הסנונית,סמטת החבוש,רחוב הקסת",
      streetStyle: .numberLast, unit: "דירה", postal: "9999999", legalForms: "בע״מ", phones: .britain),
    CultureText(
      country: "IN", countryName: "भारत", weight: 2,
      firstNames: "अमित=Amit,प्रिया=Priya,राहुल=Rahul,अनीता=Anita,विकास=Vikas,सुनीता=Sunita,Arjun,Lakshmi,Venkatesh,Meera",
      lastNames: "शर्मा=Sharma,वर्मा=Verma,गुप्ता=Gupta,सिंह=Singh,कुमार=Kumar,Iyer,Reddy,Chatterjee,Kulkarni,Nair",
      cities: "मुंबई=Mumbai/महाराष्ट्र=Maharashtra,Pune/Maharashtra,जयपुर=Jaipur/राजस्थान=Rajasthan,Kochi/Kerala",
      streets: "Lantern Marg,लालटेन मार्ग,Swift Path,Inkwell Nagar,कलम गली", streetStyle: .numberAfterComma, unit: "Flat", postal: "999999",
      legalForms: "Pvt. Ltd.,LLP", phones: .northAmerica),
    CultureText(
      country: "CN", countryName: "中国", weight: 2,
      firstNames: "伟=Wei,芳=Fang,娜=Na,秀英=Xiuying,敏=Min,静=Jing,磊=Lei,洋=Yang,子涵=Zihan,雨桐=Yutong,𠮷安=Ji'an",
      lastNames: "王=Wang,李=Li,张=Zhang,刘=Liu,陈=Chen,杨=Yang,黄=Huang,赵=Zhao,欧阳=Ouyang,司马=Sima",
      cities: "北京=Beijing/北京市=Beijing,上海=Shanghai/上海市=Shanghai,成都=Chengdu/四川省=Sichuan,广州=Guangzhou/广东省=Guangdong",
      streets: "灯笼路,燕子街,木瓜巷,墨水瓶路,铜叶大道", streetStyle: .chinese, unit: "室", postal: "999999", legalForms: "有限公司", phones: .northAmerica),
    CultureText(
      country: "JP", countryName: "日本", weight: 2, firstNames: "翔太=Shota,さくら=Sakura,健=Ken,陽菜=Hina,大輔=Daisuke,ユウカ=Yuka,直樹=Naoki,美咲=Misaki",
      lastNames: "佐藤=Sato,鈴木=Suzuki,高橋=Takahashi,田中=Tanaka,渡辺=Watanabe,伊藤=Ito,山本=Yamamoto,髙﨑=Takasaki",
      cities: "東京=Tokyo/東京都=Tokyo,大阪=Osaka/大阪府=Osaka,札幌=Sapporo/北海道=Hokkaido,那覇=Naha/沖縄県=Okinawa",
      streets: "提灯町,つばめ通り,かりん坂,インク壺町,銅葉台", streetStyle: .numberLast, unit: "号室", postal: "999-9999", legalForms: "株式会社,合同会社",
      phones: .northAmerica),
    CultureText(
      country: "KR", countryName: "대한민국", weight: 1, firstNames: "민준=Minjun,서연=Seoyeon,지훈=Jihun,수빈=Subin,영희=Younghee,철수=Cheolsu",
      lastNames: "김=Kim,이=Lee,박=Park,최=Choi,정=Jung,남궁=Namgung",
      cities: "서울=Seoul/서울특별시=Seoul,부산=Busan/부산광역시=Busan,제주=Jeju/제주도=Jeju", streets: "등불로,제비길,모과로,잉크병길",
      streetStyle: .numberLast, unit: "호", postal: "99999", legalForms: "주식회사", phones: .northAmerica),
  ]
}
