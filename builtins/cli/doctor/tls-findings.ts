import { errorMessage } from '../../../host/common/error-message.ts';
import type { ListenersTls } from '../../../host/environment/tls-settings.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import { isKeyOpen, loadTls } from '../../../host/http/tls/tls-files.ts';

/** A certificate that ends sooner is warned of. */
const SOON_MS = 14 * 86_400_000;

/** Whether a start could speak TLS with the files that are named; nothing where none is. */
export function tlsFindings({ data, admin }: ListenersTls, now: number): readonly Finding[] {
  return [data, admin].flatMap((settings, at) => {
    if (!settings || (at > 0 && settings.cert.variable === data?.cert.variable)) return [];
    const { cert, key } = settings;
    try {
      const { notAfter } = loadTls(settings);
      const until = `${cert.path} (${cert.variable}) ${notAfter <= now ? 'has ended' : 'ends'} ${new Date(notAfter).toISOString()}`;
      const open: readonly Finding[] = isKeyOpen(settings)
        ? [{ level: 'warning', text: `${key.path} (${key.variable}) may be read by every user of this machine` }]
        : [];
      return [{ level: notAfter - now > SOON_MS ? 'good' : 'warning', text: until } as const, ...open];
    } catch (error) {
      return [{ level: 'bad', text: errorMessage(error) } as const];
    }
  });
}
