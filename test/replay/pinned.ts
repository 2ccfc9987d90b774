/** What every run makes anew, by the exchange in which it appears. */
export interface Moment {
  /** When the recording of the whole run began and ended, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** The gateway's own id of the exchange, if its answer names one. */
  readonly id: string | undefined;
}

interface Pin {
  readonly why: string;
  pin(text: string, moment: Moment): string;
}

const SLACK_MS = 5000;

const isIn = (ms: number, { from, to }: Moment): boolean => ms >= from - SLACK_MS && ms <= to + SLACK_MS;

/** Lengths at which the gateway cuts its id for ids of answers. */
const ID_LENGTHS = [32, 24, 16, 12, 8];

const replaced =
  (pattern: RegExp, mark: string) =>
  (text: string): string =>
    text.replaceAll(pattern, mark);

/** Everything that two runs of the same code do not have in common. */
export const PINS: readonly Pin[] = [
  {
    why: 'the gateway makes an id for each exchange, and ids of answers of it',
    pin: (text, { id }) =>
      id === undefined
        ? text
        : ID_LENGTHS.reduce((pinned, length) => pinned.replaceAll(id.slice(0, length), `<id ${length}>`), text),
  },
  {
    why: 'stub upstreams and the gateway listen on free ports',
    pin: replaced(/\b(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'),
  },
  {
    why: 'the header Date, and dates in the form of HTTP',
    pin: replaced(/\b[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/g, '<date>'),
  },
  {
    why: 'answers say when they were made (created, created_at, completed_at): in seconds or milliseconds',
    pin: (text, moment) =>
      text.replaceAll(/(?<![\w.])\d{10}(\d{3})?(?![\w.])/g, (digits) =>
        isIn(Number(digits) * (digits.length === 10 ? 1000 : 1), moment) ? '<now>' : digits,
      ),
  },
  {
    why: 'the admin API writes times as ISO 8601',
    pin: (text, moment) =>
      text.replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, (time) =>
        isIn(Date.parse(time), moment) ? '<now>' : time,
      ),
  },
  {
    why: 'forms that leave for an upstream have a boundary of chance',
    pin: replaced(/gw-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<boundary>'),
  },
  {
    why: 'requests to AWS are signed with the time and the port',
    pin: (text) =>
      text
        .replaceAll(/\b\d{8}T\d{6}Z\b/g, '<signed at>')
        .replaceAll(/(Credential=\w+)\/\d{8}\//g, '$1/<day>/')
        .replaceAll(/Signature=[0-9a-f]{64}/g, 'Signature=<signature>'),
  },
];

/** Headers of an answer whose value is a duration. */
export const DURATIONS: ReadonlySet<string> = new Set(['x-gateway-overhead-ms', 'server-timing']);

/**
 * Headers of an answer that tell what is known when they leave. Of a stream that arrives in pieces, that depends on how many
 * of its events one read of the gateway finds together. Streams in one piece compare them.
 */
export const OF_PIECES: ReadonlySet<string> = new Set(['x-gateway-upstream-model']);

export function pinned(text: string, moment: Moment): string {
  return PINS.reduce((done, each) => each.pin(done, moment), text);
}
