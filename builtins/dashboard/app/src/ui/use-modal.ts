import { type RefObject, useEffect, useRef } from 'react';

/** Opens a `<dialog>` over the page as long as it is rendered, and gives the focus back to what had it. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = element;
    const opener = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return element;
}
