/**
 * Lengths of card numbers by how they begin, inclusive; longer beginnings come first. Source: ISO/IEC 7812 ranges as the card
 * networks publish them, 2026-11-22.
 */
const RANGES: readonly (readonly [from: number, to: number, lengths: readonly number[]])[] = [
  [2200, 2204, [16, 17, 18, 19]],
  [2221, 2720, [16]],
  [3000, 3059, [14, 16, 19]],
  [3095, 3095, [14, 16, 19]],
  [3400, 3499, [15]],
  [3528, 3589, [16, 17, 18, 19]],
  [3600, 3699, [14, 16, 19]],
  [3700, 3799, [15]],
  [3800, 3999, [14, 16, 19]],
  [4000, 4999, [13, 16, 18, 19]],
  [5000, 5099, [13, 14, 15, 16, 17, 18, 19]],
  [5100, 5599, [16]],
  [5600, 6999, [13, 14, 15, 16, 17, 18, 19]],
  [8100, 8299, [16, 17, 18, 19]],
];

/** Whether digits can be a card number: a known beginning, its length, and the check digit (Luhn, ISO/IEC 7812-1). */
export function isCard(digits: string): boolean {
  const begin = Number(digits.slice(0, 4));
  const isIssued = RANGES.some(
    ([from, to, lengths]) => begin >= from && begin <= to && lengths.includes(digits.length),
  );
  return isIssued && passesLuhn(digits);
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    const counted = at % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}
