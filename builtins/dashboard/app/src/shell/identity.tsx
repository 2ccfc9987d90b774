import { LogOut } from 'lucide-react';
import { useLocation } from 'wouter';
import { endSession } from '../session/session-calls.ts';
import { useCanWrite, useServices, useSession } from '../services.ts';
import { IconButton } from '../ui/button.tsx';
import { Pill } from '../ui/pill.tsx';

/** Who is signed in, what they may do, and the way out. */
export function Identity() {
  const services = useServices();
  const session = useSession();
  const canWrite = useCanWrite();
  const [, navigate] = useLocation();
  const signOut = (): void => {
    void endSession(services).then(() => navigate('/login', { replace: true }));
  };
  return (
    <div className="identity">
      <div className="identity-text">
        <span className="identity-subject" title={session?.subject}>
          {subjectName(session?.subject)}
        </span>
        <Pill tone={canWrite ? 'accent' : 'neutral'}>{canWrite ? 'Admin' : 'Read only'}</Pill>
      </div>
      <IconButton icon={LogOut} label="Log out" onClick={signOut} />
    </div>
  );
}

/** The master key has no name, only an id that tells it from the next one. */
function subjectName(subject = ''): string {
  if (subject.startsWith('master-key:')) return 'Master key';
  return subject || 'Signed in';
}
