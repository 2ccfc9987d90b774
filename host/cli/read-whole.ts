const MIB = 1024 * 1024;

/** All that a stream brings, as text. Throws when that is more than so many MiB, and names what it read. */
export async function readWhole(stream: AsyncIterable<unknown>, name: string, mostMib: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > mostMib * MIB) throw new Error(`${name} is longer than ${mostMib} MiB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
