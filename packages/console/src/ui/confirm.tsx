import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from './dialog.js';
import { Fault } from './fault.js';

interface ConfirmProps {
  /** What is about to be done, and to what. */
  title: string;
  /** The name of the act, on its button. */
  act: string;
  /** Whether the act is being done, and why it failed. */
  doing: { isPending: boolean; error: Error | null };
  /** True for an act that takes nothing away. */
  isHarmless?: boolean;
  /** False until what the act needs was given. */
  isReady?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  /** What will happen. */
  children: ReactNode;
}

/** Asks before an act that cannot be undone easily. The focus begins on the button that leaves everything as it is. */
export function Confirm({
  title,
  act,
  doing,
  isHarmless = false,
  isReady = true,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) {
  const words = useTranslations();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Fault error={doing.error} />
      <div className="actions">
        <button type="button" onClick={onClose}>
          {words('cancel')}
        </button>
        <button
          type="button"
          className={isHarmless ? 'main' : 'danger'}
          disabled={doing.isPending || !isReady}
          onClick={onConfirm}
        >
          {act}
        </button>
      </div>
    </Dialog>
  );
}
