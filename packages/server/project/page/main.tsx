import { createRoot } from 'react-dom/client';
import { loadChat } from './load-chat.ts';
import { ChatPage } from './chat-page.tsx';
import './style.css';

// The thread is in the address, so that a reload, a second tab or a shared link shows the same chat.
const id = location.hash.slice(1) || crypto.randomUUID();
location.hash = id;
addEventListener('hashchange', () => location.reload());

createRoot(document.getElementById('root')!).render(<ChatPage chat={await loadChat(id)} />);
