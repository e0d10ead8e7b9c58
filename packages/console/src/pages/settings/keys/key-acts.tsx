import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { type ApiKey, useRefuseWarnings, useRevokeApiKey, useRotateApiKey } from '../../../data/api-keys.js';
import { Confirm } from '../../../ui/confirm.js';
import { Dialog, FormActions } from '../../../ui/dialog.js';
import { Fault } from '../../../ui/fault.js';
import { Field } from '../../../ui/field.js';
import { Secret } from '../../../ui/secret.js';

interface ActProps {
  apiKey: ApiKey;
  /** Whether the session began with this key. */
  isOwn: boolean;
}

/** Replaces or revokes a key. */
export function KeyActs(props: ActProps) {
  const words = useTranslations('settings.keys');
  const [act, setAct] = useState<'rotate' | 'revoke' | null>(null);
  const close = () => setAct(null);
  return (
    <div className="actions">
      <button type="button" className="plain" onClick={() => setAct('rotate')}>
        {words('rotate')}
      </button>
      <button type="button" className="plain" onClick={() => setAct('revoke')}>
        {words('revoke')}
      </button>
      {act === 'rotate' && <Rotate {...props} onClose={close} />}
      {act === 'revoke' && <Revoke {...props} onClose={close} />}
    </div>
  );
}

function Revoke({ apiKey, isOwn, onClose }: ActProps & { onClose: () => void }) {
  const words = useTranslations('settings.keys');
  const revoke = useRevokeApiKey(apiKey.id);
  return (
    <Confirm
      title={words('revokeTitle', { name: apiKey.name })}
      act={words('revokeAct')}
      doing={revoke}
      onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{words('revokeHint')}</p>
      {isOwn && <p className="warn">{words('revokeOwn')}</p>}
    </Confirm>
  );
}

const OVERLAPS = ['0', '1', '24', '168', '720'] as const;

function Rotate({ apiKey, isOwn, onClose }: ActProps & { onClose: () => void }) {
  const words = useTranslations('settings.keys');
  const rotate = useRotateApiKey(apiKey.id);
  if (rotate.data)
    return (
      <Secret
        title={words('made', { name: apiKey.name })}
        hint={words('secretHint')}
        secret={rotate.data.key}
        onClose={onClose}
      />
    );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    rotate.mutate(Number(new FormData(event.currentTarget).get('overlap')));
  };
  return (
    <Dialog title={words('rotateTitle', { name: apiKey.name })} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{words('rotateHint')}</p>
        <Field label={words('overlap')}>
          {(ids) => (
            <select {...ids} name="overlap" defaultValue="24">
              {OVERLAPS.map((hours) => (
                <option key={hours} value={hours}>
                  {words(`overlaps.${hours}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {isOwn && <p className="warn">{words('rotateOwn')}</p>}
        <Fault error={rotate.error} />
        <FormActions act={words('rotate')} isBusy={rotate.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** Whether a warning refuses a document that was submitted with the key. */
export function RefuseWarnings({ apiKey: { id, refuse_warnings } }: { apiKey: ApiKey }) {
  const words = useTranslations('settings.keys');
  const change = useRefuseWarnings(id);
  const [refuses, setRefuses] = useState(refuse_warnings);
  const choose = (chosen: boolean) => {
    setRefuses(chosen);
    change.mutate(chosen, { onError: () => setRefuses(!chosen) });
  };
  return (
    <>
      <label>
        <input type="checkbox" checked={refuses} onChange={({ target }) => choose(target.checked)} />
        {words('refuse')}
      </label>
      <Fault error={change.error} />
    </>
  );
}
