import { withoutTail } from './paths.ts';

/** A resource's host, whether it is given bare or with the path that the portal shows. Paths bring `/openai` themselves. */
export function resourceRoot(address: string): string {
  return ['/openai/v1', '/openai'].reduce(withoutTail, address);
}
