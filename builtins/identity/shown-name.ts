const LONGEST = 256;
/** Controls, and marks that turn the direction of writing: what stands behind them would be read as another text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A name that others have chosen, as it is kept and shown. */
export const shownName = (name: string): string =>
  Array.from(name.slice(0, 4 * LONGEST).replace(UNSEEN, ''))
    .slice(0, LONGEST)
    .join('')
    .trim();
