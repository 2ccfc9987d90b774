/** A declared instance never connects to a link-local address, whatever its name resolves to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly host: string;

  constructor(host: string) {
    super('the host is, or resolves to, a link-local address');
    this.host = host;
  }
}

/** The proxy did not open a way to the provider. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused';
  /** The status of its answer; `undefined` where there was none. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}
