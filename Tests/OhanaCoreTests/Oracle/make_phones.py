#!/usr/bin/env python3
"""Makes phones.tsv: spellings of phone numbers and what the Python port of libphonenumber makes of them.

    pip install phonenumbers==8.12.57   # the release whose metadata Debian 12's libphonenumber has
    ./make_phones.py > phones.tsv

Columns: region or -, text, possible (1, 0, or - where it is no number), E.164, international, national, RFC 3966, region of the number or -.
"""
import random

import phonenumbers as p

random.seed(20260101)
regions = sorted(p.SUPPORTED_REGIONS)
types = range(11)
idd = {"US": "011", "AU": "0011", "JP": "010"}


def spellings(region, number):
    nsn = p.national_significant_number(number)
    national = p.format_number(number, p.PhoneNumberFormat.NATIONAL)
    yield "-", p.format_number(number, p.PhoneNumberFormat.E164)
    yield region, national
    yield region, p.format_number(number, p.PhoneNumberFormat.INTERNATIONAL).replace(" ", random.choice([".", "-", "  ", "/"]))
    yield region, nsn
    yield "-", "+%d (0)%s" % (number.country_code, nsn)
    yield random.choice(regions), idd.get(region, "00") + str(number.country_code) + nsn
    yield region, national + random.choice([" ext. 12", " x7", "#99", ";ext=3", " extension 4"])
    yield "-", p.format_number(number, p.PhoneNumberFormat.RFC3966)
    yield region, nsn[: random.randint(2, len(nsn))]
    yield region, nsn + random.choice("0123456789")
    yield random.choice(regions), national
    yield "-", national


def line(region, text):
    try:
        number = p.parse(text, None if region == "-" else region)
    except p.NumberParseException:
        return [region, text, "-", "", "", "", "", "-"]
    possible = p.is_possible_number_with_reason(number) == p.ValidationResult.IS_POSSIBLE
    formats = [p.format_number(number, f) for f in (0, 1, 2, 3)]
    return [region, text, "1" if possible else "0"] + formats + [p.region_code_for_number(number) or "-"]


print("# Made by make_phones.py with the Python port of libphonenumber, release " + p.__version__)
seen = set()
for region in regions:
    for type in random.sample(types, 4):
        number = p.example_number_for_type(region, type)
        if number is None:
            continue
        for case in random.sample(list(spellings(region, number)), 5):
            if case not in seen and "\t" not in case[1]:
                seen.add(case)
                print("\t".join(line(*case)))
for text in ["", " ", "not a number", "555-5555555", "+", "++49 30 1234567", "1-800-FLOWERS", "٠٣٠ ٢٣١٢٥٠٠١", "＋４９ ３０ ２３１２５", "(212) 555-0100", "911", "110",
             "+800 1234 5678", "+979 123456789", "+999 1234567", "tel:+49-30-23125-001", "tel:030-23125;phone-context=+49", "030/23125-001", "0 30 23 12 50 01",
             "+49 (0) 30 23125 001", "0049 30 23125001", "+39 06 1234 5678", "06 1234 5678", "+1 (650) 253-0000 x123", "+54 9 11 2345 6789", "011 15 2345 6789",
             "+52 1 55 1234 5678", "0" * 30, "1" * 200, "12", "123", "+4", "+49", "+49 3", "1 2 3 4 5 6 7", "*31#030123456", "030 12345 oder 030 67890"]:
    for region in ["-", "US", "DE", "IT", "AR", "MX", "EG"]:
        print("\t".join(line(region, text)))
