import { isLinkLocalHost } from '../../hosts/host-kinds.ts';
import type { ProviderConfig } from '../../document.ts';
import type { ConfigRule } from '../rule.ts';
import { declaredIn } from './declared-instances.ts';

interface Fault {
  readonly message: string;
  readonly fix: string;
}

const ROOT_FIX = 'write the API root, such as https://api.example/v1';
const PROXY_FIX = 'write its address, such as http://proxy.internal:3128';

/** Routes that the gateway adds itself, the longer ones first. */
const ROUTES = [
  '/chat/completions',
  '/completions',
  '/embeddings',
  '/messages',
  '/responses',
  '/rerank',
  '/models',
] as const;

/** What no plain http(s) address holds. Says nothing of what stands in it: it may be a password. `fix` is for what is another thing altogether. */
function plainFault(address: string, fix: string): Fault | undefined {
  if (!/^https?:\/\/[^/?#]/i.test(address) || /[\s\\\x00-\x1f\x7f]/.test(address) || !URL.canParse(address))
    return { message: 'is not an http or https address', fix };
  if (address.includes('${')) return { message: 'holds a reference, which is not read here', fix };
  const { username, password } = new URL(address);
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(address))
    return { message: 'holds a user or a password', fix: 'take it out; a credential is a reference of its own' };
  if (/[?#]/.test(address)) return { message: 'has a query or a fragment', fix: 'cut off what begins with "?" or "#"' };
  return undefined;
}

function addressFault(address: string): Fault | undefined {
  const plain = plainFault(address, ROOT_FIX);
  if (plain) return plain;
  if (isLinkLocalHost(new URL(address).hostname))
    return { message: 'is link-local, where clouds keep identities of machines', fix: ROOT_FIX };
  const path = /^[^/]*\/\/[^/]*(.*)$/.exec(address)?.[1] ?? '';
  if (path.includes('//')) return { message: 'has an empty segment, "//", in its path', fix: 'write one slash' };
  const bare = path.replace(/\/$/, '').toLowerCase();
  const route = ROUTES.find((one) => bare.endsWith(one));
  if (route === undefined) return undefined;
  return { message: `ends in "${route}", which the gateway adds itself`, fix: `cut off "${route}" at its end` };
}

function proxyFault({ url = '', username }: NonNullable<ProviderConfig['proxy']>): Fault | undefined {
  if (url === '') return { message: 'has no url', fix: PROXY_FIX };
  if (username !== undefined && /[:\x00-\x1f\x7f]/.test(username))
    return { message: 'has a username that holds ":" or a control character', fix: 'write the name alone' };
  return plainFault(url.trim(), PROXY_FIX);
}

function authoritiesFault({ base_url: address, tls }: ProviderConfig): Fault | undefined {
  const file = tls?.ca_file;
  if (file === undefined) return undefined;
  if (!file.startsWith('/') || file.includes('\0'))
    return { message: 'is not an absolute path', fix: 'write the whole path of a PEM file' };
  return /^\s*http:/i.test(address ?? '')
    ? { message: 'stands beside an http address, which has no certificates', fix: 'remove it, or use https' }
    : undefined;
}

export const instanceAddressRules: readonly ConfigRule[] = [
  {
    id: 'CV50',
    check: (config, { report }) => {
      for (const { name, block, path } of declaredIn(config)) {
        const found = block.base_url === undefined ? undefined : addressFault(block.base_url.trim());
        if (found) report(`${path}.base_url`, `base_url of "${name}" ${found.message}`, found.fix);
      }
    },
  },
  {
    id: 'CV53',
    check: (config, { report }) => {
      for (const { name, block, path } of declaredIn(config)) {
        const found = block.proxy && proxyFault(block.proxy);
        if (found) report(`${path}.proxy`, `the proxy of "${name}" ${found.message}`, found.fix);
      }
    },
  },
  {
    id: 'CV54',
    check: (config, { report }) => {
      for (const { name, block, path } of declaredIn(config)) {
        const found = authoritiesFault(block);
        if (found) report(`${path}.tls.ca_file`, `ca_file of "${name}" ${found.message}`, found.fix);
      }
    },
  },
];
