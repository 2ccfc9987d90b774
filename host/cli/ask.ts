import type { Readable } from 'node:stream';

/** Asks with a text, and reads one line. The input is opened with the first question, and read no further than it takes. */
export function askOn(
  input: () => Readable,
  print: (text: string) => void,
): (question: string) => Promise<string | undefined> {
  return (question) => {
    print(question);
    const stream = input();
    if (stream.readableEnded) return Promise.resolve(undefined); // with the line before, which had no end
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const { createInterface } = process.getBuiltinModule('node:readline'); // most commands ask nothing, and need not load it
    const lines = createInterface({ input: stream });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(undefined));
    return promise;
  };
}
