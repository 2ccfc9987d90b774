import type { ServerResponse } from 'node:http';

export type Fields = Readonly<Record<string, any>>;

/** A request as it reached a vendor, its credential and path already found right. */
export interface Asked {
  readonly vendor: string;
  /** By the vendor's own name. */
  readonly model: string;
  /** Empty for a form. */
  readonly body: Fields;
  readonly form: FormData | undefined;
  /** Settles when the test lets a held answer go on. */
  readonly released: Promise<void>;
}

/** One surface of one vendor: refuses what the vendor refuses, answers as it answers. */
export type Dialect = (asked: Asked, response: ServerResponse) => void | Promise<void>;

/** What a vendor says no to. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function refuse(message: string): never {
  throw new Refusal(400, message);
}

export function requireFields(body: Fields, names: readonly string[]): void {
  for (const name of names) {
    const value: unknown = body[name];
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0))
      refuse(`'${name}' is a required property`);
  }
}

/** Schemas that are closed refuse a name they do not know, whatever its value. */
export function allowOnly(body: Fields, names: readonly string[], at = ''): void {
  for (const name of Object.keys(body)) if (!names.includes(name)) refuse(`property '${at}${name}' is unsupported`);
}

export function refuseAny(body: Fields, names: readonly string[], at = ''): void {
  for (const name of names) if (name in body) refuse(`property '${at}${name}' is unsupported`);
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function sendBytes(response: ServerResponse, contentType: string, bytes: Uint8Array | string): void {
  response.writeHead(200, { 'content-type': contentType });
  response.end(bytes);
}
