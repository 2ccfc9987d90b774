/** US dollars of whole micro-dollars as a number is written: exactly, with as few decimals as it takes, and never with an exponent. */
export function usdText(micro: number): string {
  const [whole, parts] = [Math.floor(Math.abs(micro) / 1e6), Math.abs(micro) % 1e6];
  const decimals = String(parts).padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0 ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}`;
}
