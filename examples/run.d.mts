/** Plays one example and resolves with how many of its steps were not as it says. `services` may put others in the place of processes. */
export function runExample(
  folder: string,
  options: {
    readonly print: (line: string) => void;
    readonly keep?: boolean;
    readonly services?: {
      readonly startGateway: (started: {
        readonly folder: string;
        readonly config?: string;
        readonly env: Readonly<Record<string, string>>;
      }) => Promise<{ readonly url: string; readonly stop: () => Promise<void> }>;
    };
  },
): Promise<number>;

/** A text without what changes from run to run. */
export function steady(text: string): string;

/** The README with what was printed between its marks. */
export function withOutput(readme: string, output: string): string;
