import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { useTranslations } from 'use-intl';

interface DialogProps {
  title: string;
  onClose: () => void;
  /** True while only its own buttons close it. */
  stays?: boolean;
  children: ReactNode;
}

/** A dialog over the page, open for as long as it is rendered. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, stays = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Before it is removed, because only closing returns the focus.
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        // Choosing no file in a field is a cancellation too.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        if (!stays) onClose();
      }}
      onKeyDown={(event) => stays && event.key === 'Escape' && event.preventDefault()}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface FormActionsProps {
  /** The name of the act, on the button that submits the form. */
  act: string;
  isBusy?: boolean;
  onClose: () => void;
}

/** The end of a form in a dialog: leave, or do it. */
export function FormActions({ act, isBusy = false, onClose }: FormActionsProps) {
  const words = useTranslations();
  return (
    <div className="actions">
      <button type="button" onClick={onClose}>
        {words('cancel')}
      </button>
      <button type="submit" className="main" disabled={isBusy}>
        {act}
      </button>
    </div>
  );
}
