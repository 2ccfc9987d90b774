/** Characters of an IBAN by country. Source: SWIFT IBAN registry, release 99, 2024-12, read 2026-11-22. */
const LENGTHS = new Map(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
);

/** One of them may stand between groups. */
const SEPARATORS: ReadonlySet<number> = new Set(Buffer.from(' -./'));

/** Where an IBAN that begins here ends; `undefined` without one. Groups may stand apart; letters may be small. */
export function ibanEnd(text: string, start: number): number | undefined {
  const length = LENGTHS.get(text.slice(start, start + 2).toUpperCase());
  if (length === undefined) return undefined;
  let characters = '';
  let at = start;
  for (; characters.length < length; at += 1) {
    const code = text.charCodeAt(at);
    if (SEPARATORS.has(code) && characters.length > 3 && !SEPARATORS.has(text.charCodeAt(at - 1))) continue;
    if (!isLetterOrDigit(code)) return undefined;
    characters += text.charAt(at);
  }
  return isLetterOrDigit(text.charCodeAt(at)) || !hasCheckDigits(characters) ? undefined : at;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 122);
}

/** ISO 7064, modulus 97: the first four characters go to the end, letters count from 10. */
function hasCheckDigits(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
