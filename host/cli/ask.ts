/** Asks with a text, and reads one line. The input is opened with the first question, and read no further than it takes. */
export function askOn(input: () => NodeJS.ReadableStream, print: (text: string) => void): (question: string) => Promise<string | undefined> {
  return (question) => {
    print(question);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const { createInterface } = process.getBuiltinModule('node:readline'); // most commands ask nothing, and need not load it
    const lines = createInterface({ input: input() });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(undefined));
    return promise;
  };
}
