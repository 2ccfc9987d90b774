/** What `main` keeps of the process for itself. */
export interface OwnProcess {
  /** stdout, which holds log lines or the data of a command and nothing else. */
  readonly stdout: () => NodeJS.WriteStream;
  readonly exit: (code: number) => never;
}

/**
 * Takes from modules what would let them speak or act in the gateway's place: what they print goes to stderr, and a call of
 * `process.exit` throws where it stands. Files and descriptors that they open themselves are their own.
 */
export function ownProcess(process: NodeJS.Process): OwnProcess {
  const stdout = Object.getOwnPropertyDescriptor(process, 'stdout');
  const open = (): NodeJS.WriteStream => (stdout?.get?.call(process) ?? stdout?.value) as NodeJS.WriteStream;
  const exit = process.exit.bind(process);
  // The console looks for stdout when it first prints.
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => process.stderr });
  process.exit = (code) => {
    throw new Error(`process.exit(${code ?? ''}) was called: a module cannot end the gateway`);
  };
  return { stdout: open, exit };
}
