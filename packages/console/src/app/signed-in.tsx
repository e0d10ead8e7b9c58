import { focusManager } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
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
  const [first, setFirst] = useState<Session | null>(null);
  const present = session.data?.kind === kind ? session.data : null;
  if (present !== null && first === null) setFirst(present);
  const isOther = present !== null && first !== null && present.id !== first.id;
  useRenewal(isOther, present === null);
  return (
    <Loaded query={session}>
      {() => (
        <>
          {present === null && <SignIn kind={kind} again={first !== null} />}
          {first !== null && !isOther && (
            // A session that ends shows the sign-in over the page, so that what was typed stays.
            <div className="shell" inert={present === null}>
              {children(first)}
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Loads the page anew for another key, so that it shows nothing of the former one. Without a session, no page refreshes itself. */
function useRenewal(isOther: boolean, isSignedOut: boolean): void {
  useEffect(() => {
    if (isOther) location.reload();
  }, [isOther]);
  useEffect(() => focusManager.setFocused(isSignedOut ? false : undefined), [isSignedOut]);
}
