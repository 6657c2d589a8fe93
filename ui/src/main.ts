import './app/svc-app.js';
