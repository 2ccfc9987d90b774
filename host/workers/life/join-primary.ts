import { Channel } from '../channel.ts';
import { type GivenToWorker, TOPIC, type WorkerTeam } from '../team.ts';
import { primaryPort } from './worker-process.ts';

/** The first word of a worker: what it is to begin with. */
export async function joinPrimary(): Promise<WorkerTeam> {
  const channel = new Channel(primaryPort());
  const given = await channel.ask<GivenToWorker>(TOPIC.given);
  return { role: 'worker', number: given.number, channel, given };
}
