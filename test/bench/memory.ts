import { endpointOf, requestBody } from './bodies.ts';
import type { Setting } from './measure.ts';
import type { Subject } from './subjects.ts';
import { residentMb } from './usage.ts';

export interface MemoryReading {
  readonly requests: number;
  readonly residentMb: number;
}

/** Memory of one process after so many unary requests: what grows from one reading to the next is not given back. */
export async function measureMemory(
  { plan, upstreams, generators }: Setting,
  subject: Subject,
): Promise<MemoryReading[]> {
  const { pid, baseUrl, headers, stop } = await subject.start(upstreams.baseUrl('unary', 'same'));
  const { connections } = plan.load.unary;
  const readings: MemoryReading[] = [];
  let done = 0;
  for (const requests of plan.memoryAfter) {
    await generators.load('unary')({
      url: `${baseUrl}${endpointOf('unary')}`,
      headers,
      body: requestBody('unary'),
      requests: requests - done,
      connections,
      until: 'end',
    });
    done = requests;
    readings.push({ requests, residentMb: residentMb(pid) });
  }
  await stop();
  return readings;
}
