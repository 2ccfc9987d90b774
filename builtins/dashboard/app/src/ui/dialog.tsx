import { type ReactNode, useId, useState } from 'react';
import { X } from 'lucide-react';
import { messageOf } from '../api/api-error.ts';
import { Button, IconButton } from './button.tsx';
import { Banner } from './states.tsx';
import { useModal } from './use-modal.ts';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether Escape, the cross and a press beside it do not close it: its content is seen once. */
  readonly isSticky?: boolean;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/**
 * A modal dialog, which is there as long as it is rendered. The browser's own element keeps the focus inside, makes the
 * rest of the page inert and gives the focus back to what opened it.
 */
export function Dialog({ title, onClose, isSticky = false, isWide = false, children }: DialogProps) {
  const id = useId();
  const element = useModal();
  return (
    <dialog
      ref={element}
      className="dialog"
      data-wide={isWide || undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isSticky) onClose();
      }}
      onKeyDown={(event) => {
        if (isSticky && event.key === 'Escape') event.preventDefault();
      }}
      onClick={(event) => {
        if (!isSticky && event.target === element.current) onClose();
      }}
    >
      <div>
        <header className="dialog-header">
          <h2 className="dialog-title" id={id}>
            {title}
          </h2>
          {!isSticky && <IconButton icon={X} label="Close" onClick={onClose} />}
        </header>
        {children}
      </div>
    </dialog>
  );
}

export function DialogBody({ children }: { readonly children: ReactNode }) {
  return <div className="dialog-body">{children}</div>;
}

export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <footer className="dialog-actions">{children}</footer>;
}

/** The end of a form in a dialog: a way out, and the button that sends it. */
export function SubmitActions({
  action,
  isBusy,
  onClose,
}: {
  readonly action: string;
  readonly isBusy: boolean;
  readonly onClose: () => void;
}) {
  return (
    <DialogActions>
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" tone="primary" isBusy={isBusy}>
        {action}
      </Button>
    </DialogActions>
  );
}

export interface ConfirmDialogProps {
  readonly title: string;
  /** The verb of the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Does it; what it throws is shown inside, and the dialog stays. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before something that cannot be taken back. */
export function ConfirmDialog({
  title,
  action,
  isDangerous = false,
  isDisabled = false,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const { run, isBusy, error } = useAction(onConfirm);
  return (
    <Dialog title={title} onClose={onClose}>
      <DialogBody>
        {children}
        {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
      </DialogBody>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button tone={isDangerous ? 'danger' : 'primary'} isBusy={isBusy} disabled={isDisabled} onClick={run}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

export interface Action {
  readonly run: () => void;
  readonly isBusy: boolean;
  /** What the last run threw; nothing while it runs or after it went well. */
  readonly error: unknown;
}

/** Something that takes a while and may fail, once at a time. */
export function useAction(act: () => Promise<void>): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (): void => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    act()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { run, isBusy, error };
}
