import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import {
  useChangeWebhook,
  useDeleteWebhook,
  useReplayWebhook,
  useRotateWebhook,
  type Webhook,
} from '../../../data/webhooks.js';
import { Confirm } from '../../../ui/confirm.js';
import { Dialog, FormActions } from '../../../ui/dialog.js';
import { Fault } from '../../../ui/fault.js';
import { Field } from '../../../ui/field.js';
import { Secret } from '../../../ui/secret.js';

interface DialogProps {
  webhook: Webhook;
  onClose: () => void;
}

export function Deactivate({ webhook, onClose }: DialogProps) {
  const words = useTranslations('settings.webhooks');
  const change = useChangeWebhook(webhook.id);
  return (
    <Confirm
      title={words('deactivateTitle')}
      act={words('deactivate')}
      doing={change}
      onConfirm={() => change.mutate({ active: false }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="code">{webhook.url}</p>
      <p>{words('deactivateHint', { count: webhook.pending })}</p>
    </Confirm>
  );
}

export function Delete({ webhook, onClose }: DialogProps) {
  const words = useTranslations('settings.webhooks');
  const remove = useDeleteWebhook(webhook.id);
  return (
    <Confirm
      title={words('removeTitle')}
      act={words('remove')}
      doing={remove}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="code">{webhook.url}</p>
      <p>{words('removeHint', { count: webhook.pending })}</p>
    </Confirm>
  );
}

export function Rotate({ webhook, onClose }: DialogProps) {
  const words = useTranslations('settings.webhooks');
  const rotate = useRotateWebhook(webhook.id);
  if (rotate.data)
    return <Secret title={words('made')} hint={words('secretHint')} secret={rotate.data.secret} onClose={onClose} />;
  return (
    <Confirm
      title={words('rotateTitle')}
      act={words('rotate')}
      doing={rotate}
      isHarmless
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    >
      <p className="code">{webhook.url}</p>
      <p>{words('rotateHint')}</p>
    </Confirm>
  );
}

export function Replay({ webhook, onClose }: DialogProps) {
  const words = useTranslations();
  const replay = useReplayWebhook(webhook.id);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    replay.mutate(String(new FormData(event.currentTarget).get('after')).trim(), { onSuccess: onClose });
  };
  return (
    <Dialog title={words('settings.webhooks.replay')} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{words('settings.webhooks.replayHint')}</p>
        <Field label={words('settings.webhooks.after')} hint={words('settings.webhooks.afterHint')}>
          {(ids) => <input {...ids} name="after" className="code" maxLength={100} required autoComplete="off" />}
        </Field>
        <Fault error={replay.error} />
        <FormActions act={words('settings.webhooks.replay')} isBusy={replay.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
