import { type FormEvent, useEffect, useRef } from 'react';
import { useTranslations } from 'use-intl';
import { type Session, useSignIn } from '../../data/session.js';
import { problemText } from '../../ui/problem.js';
import { useSwitchLanguage } from '../../words/words.js';

interface SignInProps {
  kind: Session['kind'];
  /** Over a page whose session has ended. */
  again: boolean;
}

/** Asks for an API key of an account, or for the token of an administrator. */
export function SignIn({ kind, again }: SignInProps) {
  const words = useTranslations();
  const state = useTranslations('state');
  const signIn = useSignIn();
  const switchLanguage = useSwitchLanguage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    signIn.mutate(kind === 'account' ? { api_key: key } : { admin_token: key });
  };
  return (
    <dialog ref={dialog} className="sign-in" aria-labelledby="sign-in" onCancel={(event) => event.preventDefault()}>
      <img src="/console/icon.svg" alt="" width="40" height="40" />
      <h1 id="sign-in">{words('product')}</h1>
      <p className="quiet">{words(again ? 'session.again' : `session.${kind}.hint`)}</p>
      <form onSubmit={submit}>
        <label className="field">
          <span>{words(`session.${kind}.key`)}</span>
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
