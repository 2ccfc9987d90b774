const DAY_MS = 24 * 3600 * 1000;

type Headers = Readonly<Record<string, string>>;
type Read = (text: string, now: number) => number | undefined;

/** Header, in the order they are asked, and how each is read. See docs/reference/data-plane.md#retry-after. */
const HINTS: readonly (readonly [string, Read])[] = [
  ['retry-after-ms', (text) => positive(Number(text))],
  ['retry-after', (text, now) => wholeSeconds(text) ?? futureDate(text, now)],
  [
    'x-ratelimit-reset',
    (text, now) => {
      const seconds = wholeSeconds(text);
      // A figure that is further away than a day is a date in Unix seconds.
      const wait =
        seconds !== undefined && seconds > DAY_MS ? positive(seconds - now) : (seconds ?? futureDate(text, now));
      return wait !== undefined && wait <= DAY_MS ? wait : undefined;
    },
  ],
];

/** How long an upstream asks to be left alone, in milliseconds; `undefined` when it says nothing usable. */
export function waitHintMs(headers: Headers, now: number): number | undefined {
  for (const [name, read] of HINTS) {
    const text = headers[name]?.trim();
    const wait = text ? read(text, now) : undefined;
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Whether an upstream names a wait that is none: zero, less, or a date that is over. */
export function asksNoWait(headers: Headers, now: number): boolean {
  const text = (headers['retry-after-ms'] ?? headers['retry-after'])?.trim() ?? '';
  if (text === '') return false;
  return Number.isFinite(Number(text)) ? Number(text) <= 0 : isDate(text) && !(Date.parse(text) > now);
}

function positive(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

function wholeSeconds(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? positive(Number(text) * 1000) : undefined;
}

const isDate = (text: string): boolean => /^[A-Z][a-z]{2,8},? /.test(text) && !Number.isNaN(Date.parse(text));

/** Only the forms of an HTTP date: `Date.parse` alone would take much more. All are GMT, the one that does not say so too. */
function futureDate(text: string, now: number): number | undefined {
  const [, zone] = /^[A-Z][a-z]{2,8},? .* (GMT|\d{4})$/.exec(text) ?? [];
  return zone === undefined ? undefined : positive(Date.parse(zone === 'GMT' ? text : `${text} GMT`) - now);
}
