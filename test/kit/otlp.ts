import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { atEnd } from './cleanup.ts';
import { eventually } from './holdings.ts';
import { localServer } from './local-server.ts';

export interface ReceivedEvent {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A span as a collector got it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT' | 'OTHER';
  readonly traceId: string;
  readonly spanId: string;
  /** Empty without one. */
  readonly parentId: string;
  readonly traceState: string;
  /** Unix nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, any>>;
  readonly events: readonly ReceivedEvent[];
  readonly status: { readonly code: number; readonly message: string };
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector in this process. */
export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Path (of gRPC the method) and headers of each export. */
  readonly exports: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Waits until so many spans came. */
  until(count: number): Promise<readonly ReceivedSpan[]>;
}

type Take = (path: string, headers: IncomingHttpHeaders, body: Buffer) => void;

function collecting(): { readonly take: Take; readonly collector: Omit<Collector, 'url'> } {
  const spans: ReceivedSpan[] = [];
  const exports: { path: string; headers: IncomingHttpHeaders }[] = [];
  return {
    take: (path, headers, body) => {
      exports.push({ path, headers });
      spans.push(...readSpans(body));
    },
    collector: {
      spans,
      exports,
      until: async (count) => {
        await eventually(() => spans.length >= count);
        return spans;
      },
    },
  };
}

/** OTLP over HTTP. `answer` replies in its own way; unless said every export is taken. */
export async function httpCollector(
  answer: (response: ServerResponse) => void = (response) => {
    response.end();
  },
): Promise<Collector> {
  const { take, collector } = collecting();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      take(request.url ?? '', request.headers, Buffer.concat(pieces));
      answer(response);
    });
  });
  return { ...collector, url: await localServer(server) };
}

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const same = (bytes: Buffer): Buffer => bytes;

/** A collector of spans over gRPC. */
export async function grpcCollector(): Promise<Collector> {
  const { take, collector } = collecting();
  const server = new Server();
  const service: ServiceDefinition = {
    Export: {
      path: METHOD,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  };
  const Export = (
    call: { readonly request: Buffer; readonly metadata: Metadata },
    done: (error: null, reply: Buffer) => void,
  ): void => {
    take(METHOD, call.metadata.getMap() as IncomingHttpHeaders, call.request);
    done(null, Buffer.alloc(0));
  };
  server.addService(service, { Export: Export as UntypedHandleCall });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  atEnd(() => server.forceShutdown());
  return { ...collector, url: `http://127.0.0.1:${port}` };
}

/** Fields of one message by number, each as it came: varints and fixed numbers as bigint, the rest as bytes. */
function fieldsOf(bytes: Buffer): Map<number, (bigint | Buffer)[]> {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const sized = (length: number): Buffer => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = Number(varint());
    const [field, type] = [tag >> 3, tag & 7];
    const value =
      type === 0
        ? varint()
        : type === 1
          ? sized(8).readBigUInt64LE()
          : type === 5
            ? BigInt(sized(4).readUInt32LE())
            : sized(Number(varint()));
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

type Fields = ReturnType<typeof fieldsOf>;
const messages = (fields: Fields, field: number): Fields[] => ((fields.get(field) ?? []) as Buffer[]).map(fieldsOf);
const text = (fields: Fields, field: number, as: 'utf8' | 'hex' = 'utf8'): string =>
  (fields.get(field)?.[0] as Buffer | undefined)?.toString(as) ?? '';
const number = (fields: Fields, field: number): bigint => (fields.get(field)?.[0] as bigint | undefined) ?? 0n;

/** Numbers of fields: github.com/open-telemetry/opentelemetry-proto, trace/v1/trace.proto and common/v1/common.proto, read 2026-11-22. */
function readSpans(body: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    const shared = resource ? attributesOf(resource, 1) : {};
    return messages(resourceSpans, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => readSpan(span, shared));
  });
}

const KINDS: Readonly<Record<string, ReceivedSpan['kind']>> = { 1: 'INTERNAL', 2: 'SERVER', 3: 'CLIENT' };

function readSpan(span: Fields, resource: ReceivedSpan['resource']): ReceivedSpan {
  const [status] = messages(span, 15);
  return {
    name: text(span, 5),
    kind: KINDS[String(number(span, 6))] ?? 'OTHER',
    traceId: text(span, 1, 'hex'),
    spanId: text(span, 2, 'hex'),
    parentId: text(span, 4, 'hex'),
    traceState: text(span, 3),
    start: number(span, 7),
    end: number(span, 8),
    attributes: attributesOf(span, 9),
    events: messages(span, 11).map((event) => ({ name: text(event, 2), attributes: attributesOf(event, 3) })),
    status: { code: status ? Number(number(status, 3)) : 0, message: status ? text(status, 2) : '' },
    resource,
  };
}

function attributesOf(fields: Fields, field: number): Record<string, unknown> {
  return Object.fromEntries(messages(fields, field).map((pair) => [text(pair, 1), anyValue(messages(pair, 2)[0])]));
}

function anyValue(value: Fields | undefined): unknown {
  const [[kind, [raw]] = [0, []]] = value ?? [];
  switch (kind) {
    case 1:
      return (raw as Buffer).toString('utf8');
    case 2:
      return raw === 1n;
    case 3:
      return Number(BigInt.asIntN(64, raw as bigint));
    case 4: {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(raw as bigint);
      return bytes.readDoubleLE();
    }
    case 5:
      return messages(fieldsOf(raw as Buffer), 1).map(anyValue);
    default:
      return undefined;
  }
}
