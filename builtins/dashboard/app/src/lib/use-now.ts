import { useEffect, useState } from 'react';

/** The time, in milliseconds, renewed while the page is shown. */
export function useNow(everySeconds = 20): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => { if (document.visibilityState === 'visible') setNow(Date.now()); }, everySeconds * 1000);
    return () => clearInterval(timer);
  }, [everySeconds]);
  return now;
}
