/** Further keys of a block that hold a secret, by their last word: which ones there are, the kind says. */
export const SECRET_KEY = /(?:^|_)(?:key|token|secret|password)$/;

/** Secrets of shipped kinds whose last word says nothing. */
const OTHERS: ReadonlySet<string> = new Set(['access_key_id', 'service_account_json']);

/** Whether a key of an instance, or of a credential, holds a secret. */
export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key) || OTHERS.has(key);
