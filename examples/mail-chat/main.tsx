import { createRoot } from 'react-dom/client';
import { ChatPage } from './chat-page.tsx';

createRoot(document.getElementById('root') as HTMLElement).render(<ChatPage />);
