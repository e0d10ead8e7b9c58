import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from './dialog.js';
import { Field } from './field.js';

interface SecretProps {
  title: string;
  /** What the secret is for, and that it is shown only now. */
  hint: string;
  secret: string;
  onClose: () => void;
}

/** Shows a secret that cannot be read again, with a button that copies it. Only its own button closes it. */
export function Secret({ title, hint, secret, onClose }: SecretProps) {
  const words = useTranslations('secret');
  const [copied, setCopied] = useState(false);
  return (
    <Dialog title={title} onClose={onClose} stays>
      <Field label={words('label')} hint={hint}>
        {(ids) => <input {...ids} className="code" readOnly value={secret} onFocus={({ target }) => target.select()} />}
      </Field>
      <div className="actions">
        {/* A page without TLS has no clipboard; there the selected text is copied by hand. */}
        {navigator.clipboard !== undefined && (
          <button type="button" onClick={() => navigator.clipboard.writeText(secret).then(() => setCopied(true))}>
            {words(copied ? 'copied' : 'copy')}
          </button>
        )}
        <button type="button" className="main" onClick={onClose}>
          {words('kept')}
        </button>
      </div>
      <p className="unseen" role="status">
        {copied && words('copied')}
      </p>
    </Dialog>
  );
}
