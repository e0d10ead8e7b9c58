import { useBlocker } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { Dialog } from '../../ui/dialog.js';

/** Asks before the page is left while something is not sent. */
export function Unsaved({ isUnsaved }: { isUnsaved: () => boolean }) {
  const words = useTranslations('newInvoice');
  const blocked = useBlocker({ shouldBlockFn: isUnsaved, enableBeforeUnload: isUnsaved, withResolver: true });
  if (blocked.status !== 'blocked') return null;
  return (
    <Dialog title={words('leaveTitle')} onClose={blocked.reset}>
      <div className="confirm">
        <p>{words('leaveText')}</p>
        <p className="actions">
          <button type="button" className="main" onClick={blocked.reset}>
            {words('stay')}
          </button>
          <button type="button" onClick={blocked.proceed}>
            {words('leave')}
          </button>
        </p>
      </div>
    </Dialog>
  );
}
