import { type ReactNode, useState } from 'react';
import { type Session, useSession } from '../data/session.js';
import { SignIn } from '../pages/sign-in/sign-in.js';
import { Loaded } from '../ui/loaded.js';

interface SignedInProps {
  kind: Session['kind'];
  children: (session: Session) => ReactNode;
}

/** What a person sees who is signed in with a key of this kind. Without such a session it asks for the key. */
export function SignedIn({ kind, children }: SignedInProps) {
  const session = useSession();
  // A session that ends shows the sign-in over the page, so that what was typed stays.
  const [last, setLast] = useState<Session | null>(null);
  const present = session.data?.kind === kind ? session.data : null;
  if (present !== null && present !== last) setLast(present);
  return (
    <Loaded query={session}>
      {() => (
        <>
          {present === null && <SignIn kind={kind} again={last !== null} />}
          {last !== null && (
            <div className="shell" inert={present === null}>
              {children(present ?? last)}
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}
