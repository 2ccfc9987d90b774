import { HostPrincipal } from '../../host/common/host-principal.ts';
import { digestOf, PrincipalTable } from '../../host/stores/principals.ts';

/** The master key by its digest. Its id tells one master key from the next, so that sessions of a former one are over. See docs/reference/admin.md#the-master-key. */
export function masterPrincipal(masterKey: string): PrincipalTable {
  const digest = digestOf(masterKey);
  const id = `master-key:${digest.slice(0, 16)}`;
  const principal = new HostPrincipal({ id, name: id, scopes: ['admin'] });
  const table = new PrincipalTable();
  table.set(digest, principal);
  return table;
}
