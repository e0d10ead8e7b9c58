import { type FormEvent, useEffect, useRef } from 'react';
import { useTranslations } from 'use-intl';
import { useSignIn } from '../../data/session.js';
import { problemText } from '../../ui/loaded.js';
import { useSwitchLanguage } from '../../words/words.js';

/** Asks for an API key. `again`: over a page whose session has ended. */
export function SignIn({ again }: { again: boolean }) {
  const words = useTranslations();
  const state = useTranslations('state');
  const signIn = useSignIn();
  const switchLanguage = useSwitchLanguage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    signIn.mutate(String(new FormData(event.currentTarget).get('key')).trim());
  };
  return (
    <dialog ref={dialog} className="sign-in" aria-labelledby="sign-in" onCancel={(event) => event.preventDefault()}>
      <img src="/console/icon.svg" alt="" width="40" height="40" />
      <h1 id="sign-in">{words('product')}</h1>
      <p className="quiet">{words(again ? 'session.again' : 'session.hint')}</p>
      <form onSubmit={submit}>
        <label className="field">
          <span>{words('session.key')}</span>
          <input name="key" type="password" autoComplete="current-password" required spellCheck={false} />
        </label>
        {signIn.error && (
          <p className="fault" role="alert">
            {problemText(signIn.error, state)}
          </p>
        )}
        <button type="submit" className="main" disabled={signIn.isPending}>
          {words('session.enter')}
        </button>
      </form>
      <button type="button" className="plain" onClick={switchLanguage}>
        {words('language')}
      </button>
    </dialog>
  );
}
