/** What one side of a connection said, cut where it can be taken apart. What does not end yet is kept for the next bytes. */
export type Cut = (bytes: Buffer) => readonly Buffer[];

export interface Dialogue {
  readonly client: Cut;
  readonly server: Cut;
}

/** Types of a client's messages after which the server acts: all before one of them belongs to it, as Parse and Bind do to their Sync. */
const ENDS_UNIT: ReadonlySet<string> = new Set(['Q', 'S', 'H', 'X', 'p', 'F', 'c', 'd', 'f']);
/** Codes of first messages that ask for encryption (Postgres documentation, 54.7). */
const ENCRYPTION: ReadonlySet<number> = new Set([80_877_103, 80_877_104]);
const NOTIFICATION = 'A'.charCodeAt(0);

export const isNotification = (unit: Buffer): boolean => unit[0] === NOTIFICATION;

/** Bytes as they come: what another protocol says, and whatever is encrypted. */
export const asTheyCome = (): Dialogue => ({ client: (bytes) => [bytes], server: (bytes) => [bytes] });

/** The protocol of Postgres: of the client whatever is sent up to a message that the server acts on, of the server single messages. */
export function postgresDialogue(): Dialogue {
  let isOpaque = false;
  let hasStarted = false;
  let unit: Buffer[] = [];
  const client = messages((message) => {
    if (!hasStarted) {
      isOpaque = ENCRYPTION.has(message.readUInt32BE(4));
      hasStarted = true;
      return message;
    }
    unit.push(message);
    if (!ENDS_UNIT.has(String.fromCharCode(message[0] ?? 0))) return undefined;
    const whole = Buffer.concat(unit);
    unit = [];
    return whole;
  });
  const server = messages((message) => message);
  return {
    client: (bytes) => (isOpaque ? [bytes] : client(bytes, () => hasStarted)),
    server: (bytes) => (isOpaque ? [bytes] : server(bytes, () => true)),
  };
}

/** Whole messages: a type where they have one, and a length that counts itself. `take` gives back what is complete with a message. */
function messages(take: (message: Buffer) => Buffer | undefined) {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes: Buffer, hasType: () => boolean): readonly Buffer[] => {
    rest = Buffer.concat([rest, bytes]);
    const units: Buffer[] = [];
    for (;;) {
      const lengthAt = hasType() ? 1 : 0;
      if (rest.length < lengthAt + 4) return units;
      const end = lengthAt + rest.readUInt32BE(lengthAt);
      if (rest.length < end) return units;
      const unit = take(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (unit) units.push(unit);
    }
  };
}
