import express from 'express'; import { createServer } from 'node:http'; import { Pool } from 'undici';
const [origin, prefix, mode] = process.argv.slice(2);
const pool = new Pool(origin, { keepAliveTimeout: 90_000, allowH2: false });
const app = express(); app.disable('x-powered-by'); app.disable('etag');
app.use((req,res,next)=>{ if (mode.includes('c')) res.once('close',()=>{ res.writableFinished; }); next(); });
app.route('/v1/chat/completions').post((request, response)=>{
  if (mode.includes('C')) response.once('close',()=>{ response.writableFinished; });
  const pieces=[]; let t; if (mode.includes('t')) t=setTimeout(()=>{response.destroy()},60000);
  request.on('data',p=>pieces.push(p)); request.on('end',()=>{ if(t) clearTimeout(t); const body=Buffer.concat(pieces); JSON.parse(body.toString()); const reply=[];
   const go = async () => { const bytes = await new Promise((res,rej)=>pool.dispatch({path:prefix+'/chat/completions',method:'POST',headers:{'content-type':'application/json'},body, ...(mode.includes('h')?{headersTimeout:30000}:{})},{onRequestStart(){},onResponseStart(){},onResponseData(_c,p){reply.push(p)},onResponseEnd(){res(Buffer.concat(reply))},onResponseError(_c, e){rej(e)}}));
   JSON.parse(bytes.toString()); response.writeHead(200,['content-type','application/json','content-length',String(bytes.length)]); response.end(bytes); }; go(); });
});
const s=createServer(app); s.keepAliveTimeout=120000; s.listen(0,'127.0.0.1',()=>process.send({port:s.address().port}));
