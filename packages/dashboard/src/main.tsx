import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import './style/theme.css';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/table.css';
import './style/session.css';
import './style/charts.css';
import './style/overlays.css';

createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
