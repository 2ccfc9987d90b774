/** An issuer answered, and nothing that it says is used: `issuer mismatch`, `no usable key`, `too many keys`, `malformed metadata`. */
export class KeysRefused extends Error {
  override readonly name = 'KeysRefused';
}
