import type { Labels } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { every } from '../../../host/workers/life/seats.ts';
import type { PrimaryTeam, Seat, WorkerTeam } from '../../../host/workers/team.ts';
import type { Family, Increment } from './family.ts';
import { presentGauges } from './present-gauges.ts';
import { processFigures } from './process-figures.ts';
import type { FigureIncrements, SeriesStore } from './series-store.ts';

const TOPIC = { counted: 'figures.counted', asked: 'figures.asked' } as const;

/** Milliseconds between two times that a worker sends what it has counted: so much is lost with one that is killed. */
const SEND_MS = 1000;
/** Milliseconds that a scrape waits for workers. */
const ASK_MS = 1000;

/** What one worker shows at a scrape. */
interface WorkerFigures {
  readonly counted: readonly FigureIncrements[];
  readonly gauges: readonly GaugeFigures[];
  /** What the process says of itself, in the text form. */
  readonly ofProcess: string;
}

interface GaugeFigures {
  readonly name: string;
  readonly increments: readonly Increment[];
}

/** Sends what a worker has counted, each second and when it is asked. Gives what ends that. */
export function sendFigures(host: Host, { channel }: WorkerTeam, store: SeriesStore): () => void {
  channel.on(TOPIC.asked, async (): Promise<WorkerFigures> => ({
    gauges: presentGauges(host).flatMap((family) => {
      const increments = family.takeIncrements();
      return increments.length > 0 ? [{ name: family.description.name, increments }] : [];
    }),
    ofProcess: await processFigures(),
    counted: store.takeIncrements(),
  }));
  const send = (): void => {
    host.connections.report(host.counters);
    const counted = store.takeIncrements();
    if (counted.length > 0) channel.tell(TOPIC.counted, counted);
  };
  const stop = every(host.services.clock, SEND_MS, send);
  return () => {
    stop();
    send();
  };
}

export function takeFigures(team: PrimaryTeam, store: SeriesStore): void {
  team.on(TOPIC.counted, (counted) => store.merge(counted as readonly FigureIncrements[]));
}

/** What the primary shows of all processes: its own families and theirs, and what each process says of itself. */
export async function summedFigures(
  host: Host,
  team: PrimaryTeam,
  store: SeriesStore,
): Promise<{ readonly gauges: readonly Family[]; readonly ofProcesses: string }> {
  const answers = await team.askAll<WorkerFigures>(TOPIC.asked, { limitMs: ASK_MS });
  const gauges = presentGauges(host);
  const byName = new Map(gauges.map((family) => [family.description.name, family]));
  const texts: [worker: string, text: string][] = [['primary', await processFigures()]];
  const own = new Map(gauges.map((family) => [family, new Set([...family.series].map(({ labels }) => labels))]));
  for (const [seat, answer] of answers) {
    if (answer instanceof Error) continue;
    store.merge(answer.counted);
    for (const { name, increments } of answer.gauges) {
      const family = byName.get(name);
      if (family) for (const each of increments) mergeGauge(family, each, own.get(family) ?? new Set());
    }
    texts.push([numberOf(seat), answer.ofProcess]);
  }
  return { gauges, ofProcesses: byFigure(texts) };
}

const numberOf = ({ number }: Seat): string => String(number);

/** Where the primary has none of its own and the table says nothing, the largest counts. */
function mergeGauge(family: Family, { labels, value }: Increment, own: ReadonlySet<Labels>): void {
  const known = [...family.series].find(({ labels: found }) => isSame(found, labels));
  const { overProcesses: how } = family.description;
  if (!known) family.set(labels, value);
  else if (how === 'sum') known.value += value;
  else if (how === 'largest' || !own.has(known.labels)) known.value = Math.max(known.value, value);
}

const isSame = (one: Labels, other: Labels): boolean => Object.keys(one).every((name) => one[name] === other[name]);

const COMMENT = /^# (?:HELP|TYPE) (\S+)/;

/** Each figure with the lines of all processes below it, and with the process as a label of each. */
function byFigure(texts: readonly (readonly [worker: string, text: string])[]): string {
  const heads = new Map<string, string[]>();
  const lines = new Map<string, string[]>();
  for (const [worker, text] of texts) {
    let figure = '';
    for (const line of text.split('\n')) {
      const [, named] = COMMENT.exec(line) ?? [];
      if (named !== undefined) {
        figure = named;
        if (worker === 'primary' || !lines.has(figure) || (heads.get(figure)?.length ?? 0) < 2)
          heads.set(figure, [...(heads.get(figure) ?? []), line]);
        if (!lines.has(figure)) lines.set(figure, []);
      } else if (line !== '') lines.get(figure)?.push(labelled(line, worker));
    }
  }
  return [...lines].map(([figure, all]) => [...(heads.get(figure) ?? []).slice(0, 2), ...all, ''].join('\n')).join('');
}

function labelled(line: string, worker: string): string {
  const [, name = '', labels, value = ''] = /^([^\s{]+)(?:\{(.*)\})?\s(.*)$/.exec(line) ?? [];
  const all = [...(labels === undefined || labels === '' ? [] : [labels]), `worker="${worker}"`];
  return `${name}{${all.join(',')}} ${value}`;
}
