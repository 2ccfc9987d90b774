/**
 * Keys of an instance, or of a credential, that hold a secret: by how they end, and two of shipped kinds that end otherwise. Which of them there are, the kind says.
 */
export const SECRET_KEY = /(?:^|_)(?:key|token|secret|password)$|^access_key_id$|^service_account_json$/;

export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key);
