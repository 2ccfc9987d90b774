import { compactVerify, importJWK } from 'jose';
import type { PublicKey } from './key-set.ts';

type VerifyKey = Awaited<ReturnType<typeof importJWK>>;

/** Whether the key has signed the token by that algorithm, whatever the token says. Late: only gateways with issuers need the library. */
export async function isSigned(token: string, key: PublicKey, algorithm: string): Promise<boolean> {
  try {
    await compactVerify(token, await made(key, algorithm), { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
}

/** Made once for each key and algorithm. */
function made(key: PublicKey, algorithm: string): Promise<VerifyKey> {
  const known = key.made.get(algorithm) as Promise<VerifyKey> | undefined;
  if (known) return known;
  const imported = importJWK(key.jwk, algorithm);
  key.made.set(algorithm, imported);
  return imported;
}
