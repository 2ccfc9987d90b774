/**
 * The one redaction: credential values known from the environment or registered at run time, then anything that has the
 * shape of a credential. Every log line and every message a client gets passes here. Running it twice changes nothing.
 * Source: observability reference 4.
 */
export interface Redactor {
  redact(text: string): string;
  /** Hides a value that came from elsewhere than the environment: a configured header, a variable of a child process. */
  register(value: string): void;
}

const MIN_LENGTH = 12;
const SECRET_NAME = /(^|_)(KEYS?|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|DSN|AUTHORIZATION)(_|$)/i;

type Shape = readonly [pattern: RegExp, replacement: string];

/** In this order; none rewrites a marker. Each pattern starts where a run of its characters starts, so that none backtracks over long texts. */
const SHAPES: readonly Shape[] = [
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"'\\]{0,255}:)(?!\[REDACTED[\w:]*\]@)[^\s/@"'\\]+@/gi, '$1[REDACTED]@'],
  [/(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}/g, '[REDACTED_EMAIL]'],
  [/\bBearer\s+[A-Za-z0-9._~+/-]+=*/gi, 'Bearer [REDACTED_BEARER_TOKEN]'],
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g, '[REDACTED_JWT]'],
  [/AKIA[A-Z0-9]{16}/g, '[REDACTED_AWS_KEY]'],
  [/sk-ant-[A-Za-z0-9_-]{20,}/g, '[REDACTED_ANTHROPIC_KEY]'],
  [/sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}/g, '[REDACTED_OPENAI_KEY]'],
  [/sk-[A-Za-z0-9]{20,}/g, '[REDACTED_OPENAI_KEY]'],
  [/sk-ws-[A-Za-z0-9][A-Za-z0-9._-]{14,}/g, '[REDACTED_QWEN_KEY]'],
  [/pplx-[A-Za-z0-9]{20,}/g, '[REDACTED_PERPLEXITY_KEY]'],
  [/gws?_[0-9a-f]{32,}/g, '[REDACTED_GW_KEY]'],
  [/gsk_[A-Za-z0-9]{20,}/g, '[REDACTED_GROQ_KEY]'],
  [/AIza[A-Za-z0-9_-]{35}/g, '[REDACTED_GOOGLE_KEY]'],
  [/([?&](?:access_token|api[_-]?key|auth|authorization|token|key|secret|password|signature|sig|credential)=)(?!\[REDACTED[\w:]*\](?:[&\s"'\\]|$))[^&\s"'\\]+/gi, '$1[REDACTED]'],
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, '[REDACTED_PRIVATE_KEY]'],
  [/((?:api[_-]?key|access_token|auth_token|token|secret|password)\\?["']?\s*[:=]\s*\\?["']?)[A-Za-z0-9]{24,64}\b/gi, '$1[REDACTED_CREDENTIAL]'],
];

/**
 * What some shape needs to be there at all: most texts hold none of it and are left alone at once. Words apart from
 * characters: a search for words alone can leap over the text.
 */
const SUSPECT_CHARACTER = /[@?&]/;
const SUSPECT_WORDS = 'bearer|eyJ|AKIA|sk-|pplx-|gws?_|gsk_|AIza|PRIVATE KEY|api[_-]?key|token|secret|password';

/** `variables` is the process environment; values of variables with a telling name are hidden under that name. */
export function createRedactor(variables: Readonly<Record<string, string | undefined>>): Redactor {
  const replacements = new Map<string, string>();
  let values: RegExp | undefined;
  /** A word, or one of the values: one search for both. */
  let suspect = new RegExp(SUSPECT_WORDS, 'i');

  const add = (value: string, replacement: string): void => {
    if (value.length < MIN_LENGTH || /\s/.test(value) || /^\$\{.*\}$/.test(value)) return;
    // Log lines are JSON: a value with quotes or backslashes stands there in its escaped form.
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) if (!replacements.has(form)) replacements.set(form, replacement);
    const longestFirst = [...replacements.keys()].toSorted((a, b) => b.length - a.length);
    const source = longestFirst.map((value) => RegExp.escape(value)).join('|');
    values = new RegExp(source, 'g');
    suspect = new RegExp(`${SUSPECT_WORDS}|${source}`, 'i');
  };

  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || !SECRET_NAME.test(name)) continue;
    const secret = isDsn(name) ? passwordOf(value) : value;
    if (secret !== undefined) add(secret, `[REDACTED:${name}]`);
  }

  return {
    redact: (text) => {
      if (!SUSPECT_CHARACTER.test(text) && !suspect.test(text)) return text;
      let clean = values ? text.replace(values, (value) => replacements.get(value) ?? '[REDACTED]') : text;
      for (const [pattern, replacement] of SHAPES) clean = clean.replace(pattern, replacement);
      return clean;
    },
    register: (value) => add(value, '[REDACTED_SECRET]'),
  };
}

/** `DSN_PASSWORD` is a password, `API_KEY_STORE_DSN` a DSN: the last word counts. */
const isDsn = (name: string): boolean => /(^|_)DSN(_|$)/i.test(name) && !/_(KEYS?|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)$/i.test(name);

/** Of a DSN only the password of its address is secret. */
function passwordOf(dsn: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/:@]*:([^@/]+)@/i.exec(dsn)?.[1];
}
