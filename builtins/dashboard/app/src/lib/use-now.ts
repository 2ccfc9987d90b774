import { useEffect, useState } from 'react';
import { useApi } from '../services.ts';

/** The time at the gateway, in milliseconds, renewed while the page is shown. */
export function useNow(everySeconds = 20): number {
  const api = useApi();
  const [now, setNow] = useState(() => api.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNow(api.now());
    }, everySeconds * 1000);
    return () => clearInterval(timer);
  }, [api, everySeconds]);
  return now;
}
