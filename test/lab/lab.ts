/** `npm run lab`: an upstream of the common wire that has the bad day you order, to rehearse an outage. */
import { faultUpstream, loadScript, type Played } from '../kit/faults/index.ts';
import { describePlayed } from './describe.ts';
import { catalogue, type LabOptions, readOptions, USAGE } from './options.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function serve({ port, script, seed }: LabOptions): Promise<void> {
  const counts = new Map<string, number>();
  const upstream = await faultUpstream({
    script: loadScript(script),
    seed,
    port,
    remembers: false,
    onPlay: (played) => {
      counts.set(played.step.fault, (counts.get(played.step.fault) ?? 0) + 1);
      print(describePlayed(played));
    },
    onLeft: ({ place }: Played) => print(`#${place + 1} the caller left`),
  });
  print(`lab: listening on ${upstream.url}/v1, script "${script}", seed ${seed}`);
  print(
    `lab: start the gateway with OPENAI_API_KEY=lab OPENAI_BASE_URL=${upstream.url}/v1 and ask it for the model "lab" of a target "openai"`,
  );
  const stop = (): void => {
    print(`lab: ${[...counts].map(([fault, count]) => `${fault} ${count}`).join(', ') || 'no requests'}`);
    void upstream.close();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.isList) process.stdout.write(catalogue());
  else await serve(options);
} catch (error) {
  process.stderr.write(`Error: ${(error as Error).message}\n${USAGE}`);
  process.exitCode = 1;
}
