import { useTranslations } from 'use-intl';
import { type Session, useSignOut } from '../data/session.js';
import { useSwitchLanguage } from '../words/words.js';

/** Who is signed in, with the switch of the language and the way out. */
export function Person({ session: { name, kind, role } }: { session: Session }) {
  const words = useTranslations();
  const signOut = useSignOut(kind);
  const switchLanguage = useSwitchLanguage();
  return (
    <div className="person">
      <span>
        <bdi>{name}</bdi>
        {role !== null && ` · ${words(`role.${role}`)}`}
      </span>
      <button type="button" className="plain" onClick={switchLanguage}>
        {words('language')}
      </button>
      <button type="button" className="plain" onClick={() => signOut.mutate()}>
        {words('session.leave')}
      </button>
    </div>
  );
}
