import type { Turn } from './script.ts';
import type { Scene } from './scene.ts';
import type { TargetName } from './targets.ts';

/** One way in which an agent speaks with a gateway. */
export interface Mode {
  /** What titles call it. */
  readonly name: string;
  /** The model that it asks for. */
  readonly asks: string;
  /** Models that a version asks for instead, whatever its flag says. */
  readonly asksInstead?: readonly string[];
  /** Through which targets it is run: its own wire first, then the common wire, then others. An older version is run through three. */
  readonly targets: readonly TargetName[];
  /** Targets whose answers the gateway passes on unread: nothing is masked in them. */
  readonly forwarded?: readonly TargetName[];
  /** Whether its requests name their session. */
  readonly hasSession: boolean;
  /** `client_wire` of its rows; those of the gateway's own wire have none. */
  readonly wire: string | undefined;
  /** Writes the settings of the agent into its home. */
  prepare?(scene: Scene): Promise<void>;
  args(scene: Scene): readonly string[];
  variables(scene: Scene): Readonly<Record<string, string>>;
  /** The task, by the tools that a request offers; `undefined` where it wants something beside, such as a title. */
  turns(tools: readonly string[]): readonly Turn[] | undefined;
}

/** An agent in the versions that are pinned, and the ways it speaks. */
export interface Agent {
  readonly name: string;
  /** Aliases of the file of versions: the newest one first. */
  readonly aliases: readonly string[];
  readonly modes: readonly Mode[];
}

/** What every task makes, each with this line. */
export const FILES = ['made.txt', 'copied.txt'];
export const LINE = 'made\n';
export const MAKE = 'echo made > made.txt && cat made.txt';
export const COPY = 'cat made.txt > copied.txt';
export const PROMPT = 'make the files';
