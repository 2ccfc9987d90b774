import { type SetStateAction, useCallback, useEffect, useRef, useState } from 'react';
import { useServices } from '../services.ts';

/** State of a page that outlives the page: what was typed and not sent is there again after another page, or a session that ended meanwhile. */
export function useUnsent<Value extends object | string>(
  name: string,
  initial: () => Value,
): readonly [Value, (change: SetStateAction<Value>) => void] {
  const { unsent } = useServices();
  const [value, setValue] = useState<Value>(() => (unsent.has(name) ? (unsent.get(name) as Value) : initial()));
  const latest = useRef(value);
  const change = useCallback(
    (next: SetStateAction<Value>) => {
      latest.current = typeof next === 'function' ? next(latest.current) : next;
      unsent.set(name, latest.current); // also where the page is gone by now: a prompt whose answer failed comes back
      setValue(latest.current);
    },
    [unsent, name],
  );
  return [value, change];
}

/** Says whether a reload would lose work. It stays said while another page is open, as what was typed stays. */
export function useLosable(name: string, isWork: boolean): void {
  const { losable } = useServices();
  useEffect(() => {
    if (isWork) losable.add(name);
    else losable.delete(name);
  }, [losable, name, isWork]);
}
