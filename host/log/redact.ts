import type { KeyShape } from '../contract/index.ts';
import { percentDecoded } from './forms.ts';
import { beginningsOf, keyPatterns } from './key-shapes.ts';
import { KnownValues } from './known-values.ts';

/**
 * The one redaction: credential values known from the environment or registered at run time, as they are and encoded, then
 * anything that has the shape of a credential. Every log line and every message a client gets passes here. Running it twice
 * changes nothing. See docs/reference/observability.md#redaction; the encoded forms and `Basic` are ours.
 */
export interface Redactor {
  redact(text: string): string;
  /** Hides the values that are known, and leaves alone what only looks like a credential. */
  hideKnown(text: string): string;
  /** Redacts a text in which an `@` does not make an e-mail address: the id of a model, a pattern, a host. */
  redactName(text: string): string;
  /** Redacts, and only then cuts to `limit` characters (code points) and an ellipsis: half a credential would not be recognised as one. */
  excerpt(text: string, limit?: number): string;
  /**
   * Hides a value that came from elsewhere than a variable with a telling name: what a `${VAR}` stood for, a configured header, a
   * variable of a child process. Of `Bearer <token>` and the like it hides the token.
   */
  register(value: string): void;
  /** From here on hides credentials of these shapes too, wherever they stand. */
  learn(shapes: readonly KeyShape[]): void;
}

/** Characters of an upstream's or a library's text that a client or a log line gets. */
const MAX_EXCERPT = 2048;
/** How much of a longer text is looked at beyond what is shown. The end of that is left out: it may be half a credential. */
const LOOK_AHEAD = 16 * 1024;
/** One of the words that a name is made of, whatever stands between them: `my.api-key` has three. */
const SECRET_NAME = /(?<![a-z0-9])(?:KEYS?|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|DSN|AUTHORIZATION)(?![a-z0-9])/i;

/** The paths of directories: lines and messages name files below them. */
const PATHS: ReadonlySet<string> = new Set(['GW_SECRET_DIRS', 'GW_TLS_KEY', 'GW_ADMIN_TLS_KEY']);

/** Whether a variable holds a credential, as far as its name tells. */
export const isSecretName = (name: string): boolean => !PATHS.has(name) && SECRET_NAME.test(name);

const SCHEME = /^\s*(Bearer|Basic|Token)\s+(?=\S+\s*$)/i;

type Shape = readonly [pattern: RegExp, replacement: string | ((found: string, token: string) => string)];

/** Ahead of the keys of vendors, in this order; none rewrites a marker. Each pattern starts where a run of its characters starts, so that none backtracks over long texts. */
const BEFORE_KEYS: readonly Shape[] = [
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"'\\]{0,255}:)(?!\[REDACTED[\w:. -]*\]@)[^\s/@"'\\]+@/gi, '$1[REDACTED]@'],
  [/(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}/g, '[REDACTED_EMAIL]'],
  [/\bBearer\s+[A-Za-z0-9._~+/-]+=*/gi, 'Bearer [REDACTED_BEARER_TOKEN]'],
  [
    /\bBasic\s+([A-Za-z0-9+/_-]{4,}={0,2})/gi,
    (found, token) => (isUserAndPassword(token) ? 'Basic [REDACTED_BASIC_CREDENTIAL]' : found),
  ],
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g, '[REDACTED_JWT]'],
];

/** Behind them, in this order. */
const AFTER_KEYS: readonly Shape[] = [
  [/gws?_[0-9a-f]{32,}/g, '[REDACTED_GW_KEY]'],
  [
    /([?&](?:access_token|api[_-]?key|auth|authorization|token|key|secret|password|signature|sig|credential)=)(?!\[REDACTED[\w:. -]*\](?:[&\s"'\\]|$))[^&\s"'\\]+/gi,
    '$1[REDACTED]',
  ],
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
    '[REDACTED_PRIVATE_KEY]',
  ],
  [
    /((?:api[_-]?key|access_token|auth_token|token|secret|password)\\?["']?\s*[:=]\s*\\?["']?)[A-Za-z0-9]{24,64}\b/gi,
    '$1[REDACTED_CREDENTIAL]',
  ],
];

const isEmail = ([, replacement]: Shape): boolean => replacement === '[REDACTED_EMAIL]';

/** In a sentence, `Basic` is followed by an ordinary word: a credential decodes to two texts with a colon between. */
function isUserAndPassword(token: string): boolean {
  const text = Buffer.from(token, 'base64').toString();
  return text.includes(':') && !/[\x00-\x1f\x7f\ufffd]/.test(text);
}

/**
 * What a text must hold for any of the shapes to match: most texts hold none of it and are left alone at once. Words and
 * characters are two patterns, because a search for words alone skips through the text faster. Counts of tokens, which stand in
 * many lines, are not suspect.
 */
const SUSPECT_CHARACTER = /[@?&]/;
const SUSPECT_WORD = /bearer|basic\s|eyJ|gws?_|PRIVATE KEY|api[_-]?key|token[\\"'\s:=]|secret|password/i;

/** What credentials look like, with the shapes that modules have brought. */
interface Looks {
  readonly all: readonly Shape[];
  /** Without that of an e-mail address. */
  readonly ofNames: readonly Shape[];
  readonly suspectWord: RegExp;
}

function looksOf(shapes: readonly KeyShape[]): Looks {
  const all = [...BEFORE_KEYS, ...keyPatterns(shapes), ...AFTER_KEYS];
  return {
    all,
    ofNames: all.filter((shape) => !isEmail(shape)),
    suspectWord: new RegExp([SUSPECT_WORD.source, ...beginningsOf(shapes)].join('|'), 'i'),
  };
}

/** `variables` is the process environment; values of variables with a telling name are hidden under that name. */
export function createRedactor(variables: Readonly<Record<string, string | undefined>>): Redactor {
  const values = new KnownValues();
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) continue;
    const isSecret = isSecretName(name);
    const passwords = passwordsOf(value);
    if (isSecret && !isDsn(name)) values.add(value.trim(), `[REDACTED:${name}]`);
    for (const password of passwords) values.add(password, `[REDACTED:${name}]`);
  }
  const harmless = new HarmlessNames();
  let learned: readonly KeyShape[] = [];
  let looks = looksOf(learned);
  const redactAs = (text: string, shapes: readonly Shape[]): string => {
    if (harmless.has(text)) return text;
    let clean = values.hide(text);
    if (!SUSPECT_CHARACTER.test(clean) && !looks.suspectWord.test(clean)) {
      if (clean === text) harmless.add(text);
      return clean;
    }
    for (const [pattern, replacement] of shapes) clean = clean.replace(pattern, replacement as string);
    return clean;
  };
  const redact = (text: string): string => redactAs(text, looks.all);
  return {
    redact,
    hideKnown: (text) => values.hide(text),
    redactName: (text) => redactAs(text, looks.ofNames),
    excerpt: (text, limit = MAX_EXCERPT) => {
      const ahead = Math.max(LOOK_AHEAD, 4 * values.longest);
      const end = 2 * limit + 2 * ahead;
      if (text.length <= end) return cut(redact(text), limit);
      const clean = redact(text.slice(0, end));
      return cut(`${clean.slice(0, Math.max(0, clean.length - ahead))}…`, limit);
    },
    register: (value) => {
      values.add(value.replace(SCHEME, ''), '[REDACTED_SECRET]');
      harmless.clear();
    },
    learn: (shapes) => {
      if (shapes.length === 0) return;
      learned = [...learned, ...shapes];
      looks = looksOf(learned);
      harmless.clear();
    },
  };
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  return characters.length <= limit ? text : `${characters.slice(0, limit).join('')}…`;
}

/** Short texts that hold nothing to hide, such as the names of models that stand in the headers of every answer. */
class HarmlessNames {
  /** UTF-16 code units of one, and how many are kept. */
  static readonly #LONGEST = 64;
  static readonly #MOST = 512;
  readonly #texts = new Set<string>();

  has(text: string): boolean {
    return text.length <= HarmlessNames.#LONGEST && this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length > HarmlessNames.#LONGEST) return;
    if (this.#texts.size >= HarmlessNames.#MOST) this.#texts.clear();
    this.#texts.add(text);
  }

  clear(): void {
    this.#texts.clear();
  }
}

/** `DSN_PASSWORD` is a password, `API_KEY_STORE_DSN` a DSN: the end of the name counts. */
const isDsn = (name: string): boolean =>
  /(?<![a-z0-9])DSN(?![a-z0-9])/i.test(name) &&
  !/[^a-z0-9](?:KEYS?|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)$/i.test(name);

/** The password in an address, as it is written and as it is sent. Of a DSN nothing else is secret. */
function passwordsOf(address: string): readonly string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/:@]*:([^@/]+)@/i.exec(address.trim())?.[1];
  return password === undefined ? [] : [password, percentDecoded(password)];
}
