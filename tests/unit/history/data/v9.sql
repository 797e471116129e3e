PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE studies (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  fingerprint TEXT NOT NULL,
  document TEXT NOT NULL,
  seed INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'interrupted', 'finished')),
  created_wall_s REAL NOT NULL,
  elapsed_s REAL NOT NULL,
  stop_reason TEXT NOT NULL,
  recommendation TEXT
, overhead_usd REAL NOT NULL DEFAULT 0.0, unpaid_suggestions INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO studies VALUES(1,'resnet-nightly','9f2c41d07be35a68','{"name":"resnet-nightly","command":["train","{batch_size}"],"objectives":["time","cost"]}',42,'interrupted',0.0,330.0,'interrupted by SIGINT','{"trial":2}',0.25,2);
CREATE TABLE status_counts (
  study_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  trials INTEGER NOT NULL,
  PRIMARY KEY (study_id, status)
) STRICT, WITHOUT ROWID;
INSERT INTO status_counts VALUES(1,'completed',4);
INSERT INTO status_counts VALUES(1,'failed',1);
INSERT INTO status_counts VALUES(1,'infeasible',1);
INSERT INTO status_counts VALUES(1,'interrupted',1);
INSERT INTO status_counts VALUES(1,'launching',1);
INSERT INTO status_counts VALUES(1,'out_of_memory',1);
INSERT INTO status_counts VALUES(1,'running',1);
INSERT INTO status_counts VALUES(1,'stopped_early',1);
CREATE TABLE traces (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  trace TEXT NOT NULL,
  PRIMARY KEY (study_id, number)
) STRICT;
INSERT INTO traces VALUES(1,2,'{"at_s":[2.6,5.0,6.5,26.5],"samples":[64.0,3200.0,6400.0,32000.0],"steps":[0.5,25.0,50.0,250.0],"phases":[{"name":"evaluation","from_s":5.0,"to_s":5.5}],"disturbed":[{"from_s":7.0,"to_s":8.0,"other_load":0.25,"steal":0.0,"gpu_strangers":0}],"decisions":[{"at_s":20.0,"steps":180.0,"stop":false,"values":[1000.0,0.002],"half_widths":[20.0,null],"reason":""}]}');
CREATE TABLE attempts (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  status TEXT NOT NULL,
  started_wall_s REAL NOT NULL,
  ended_wall_s REAL NOT NULL,
  spent_s REAL NOT NULL,
  spent_usd REAL NOT NULL,
  failure TEXT NOT NULL,
  PRIMARY KEY (study_id, number, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO attempts VALUES(1,7,1,'interrupted',1700000420.0,1700000450.0,30.0,0.010000000000000000208,'stopped by the user');
CREATE TABLE sessions (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  session INTEGER NOT NULL CHECK (session >= 1),
  started_wall_s REAL NOT NULL,
  machine TEXT NOT NULL,
  PRIMARY KEY (study_id, session)
) STRICT, WITHOUT ROWID;
INSERT INTO sessions VALUES(1,1,1700000000.0,'{"cpu":"AMD EPYC 7B13","kernel":"6.1.0-18-amd64","steptune":"0.1.0"}');
CREATE TABLE IF NOT EXISTS "trials" (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  purpose TEXT NOT NULL CHECK (purpose IN
    ('baseline', 'hint', 'search', 'sentinel', 'confirm_incumbent', 'confirm_baseline')),
  confirm_pair INTEGER NOT NULL,
  origin TEXT NOT NULL,
  configuration TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('launching', 'running', 'completed', 'stopped_early', 'infeasible', 'failed',
     'out_of_memory', 'interrupted')),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  token TEXT NOT NULL,
  started_wall_s REAL NOT NULL,
  ended_wall_s REAL NOT NULL,
  spent_s REAL NOT NULL,
  spent_usd REAL NOT NULL,
  objective_count INTEGER NOT NULL CHECK (objective_count BETWEEN 0 AND 2),
  objective_1 REAL,
  objective_2 REAL,
  standard_error_1 REAL,
  standard_error_2 REAL,
  measurement TEXT,
  peak_memory_bytes REAL,
  other_load REAL,
  steal REAL,
  failure TEXT NOT NULL,
  placement TEXT NOT NULL,
  log_path TEXT NOT NULL,
  PRIMARY KEY (study_id, number)
) STRICT;
INSERT INTO trials VALUES(1,1,'baseline',0,'baseline','{"batch_size":64,"compile":true,"precision":"bf16","rate":0.1}','completed',1,'token-1',1700000060.0,1700000090.0,30.0,0.010000000000000000208,2,2000.0,0.0040000000000000000832,20.0,2.0000000000000001634e-05,'{"status":"steady","seconds_per_sample":0.002,"half_width_s":2e-05,"startup_s":2.5,"warmup_s":4.0,"window_s":20.0,"window_steps":400.0,"window_samples":25600.0,"total_samples":32000.0,"metrics":{"loss":1.25}}',1500000000.0,0.5,0.010000000000000000208,'','{"cpus":"0-1"}','trials/1.log');
INSERT INTO trials VALUES(1,2,'hint',0,'try','{"batch_size":128,"compile":true,"precision":"bf16","rate":0.1}','completed',1,'token-2',1700000120.0,1700000150.0,30.0,0.010000000000000000208,2,1000.0,0.0020000000000000000416,10.0,1.0000000000000000817e-05,'{"status":"steady","seconds_per_sample":0.001,"half_width_s":1e-05,"startup_s":2.5,"warmup_s":4.0,"window_s":20.0,"window_steps":400.0,"window_samples":25600.0,"total_samples":32000.0,"metrics":{"loss":1.25}}',1500000000.0,0.5,0.010000000000000000208,'','{"cpus":"0-1"}','trials/2.log');
INSERT INTO trials VALUES(1,3,'search',0,'sobol','{"batch_size":256,"compile":true,"precision":"bf16","rate":0.1}','stopped_early',1,'token-3',1700000180.0,1700000210.0,30.0,0.010000000000000000208,2,4000.0,0.0080000000000000001665,40.0,4.0000000000000003269e-05,'{"status":"steady","seconds_per_sample":0.004,"half_width_s":4e-05,"startup_s":2.5,"warmup_s":4.0,"window_s":20.0,"window_steps":400.0,"window_samples":25600.0,"total_samples":32000.0,"metrics":{"loss":1.25}}',1500000000.0,0.5,0.010000000000000000208,'','{"cpus":"0-1"}','trials/3.log');
INSERT INTO trials VALUES(1,4,'search',0,'sobol','{"batch_size":32,"compile":true,"precision":"bf16","rate":0.1}','infeasible',1,'token-4',1700000240.0,1700000270.0,30.0,0.010000000000000000208,2,1500.0,0.0030000000000000000624,15.0,1.5000000000000000379e-05,'{"status":"steady","seconds_per_sample":0.0015,"half_width_s":1.5e-05,"startup_s":2.5,"warmup_s":4.0,"window_s":20.0,"window_steps":400.0,"window_samples":25600.0,"total_samples":32000.0,"metrics":{"loss":1.25}}',1500000000.0,0.5,0.010000000000000000208,'loss 1.25 > 1.20','{"cpus":"0-1"}','trials/4.log');
INSERT INTO trials VALUES(1,5,'search',0,'bayes','{"batch_size":16,"compile":true,"precision":"bf16","rate":0.1}','failed',1,'token-5',1700000300.0,1700000330.0,30.0,0.010000000000000000208,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'exit status 1','{"cpus":"0-1"}','trials/5.log');
INSERT INTO trials VALUES(1,6,'search',0,'bayes','{"batch_size":1024,"compile":true,"precision":"bf16","rate":0.1}','out_of_memory',1,'token-6',1700000360.0,1700000390.0,30.0,0.010000000000000000208,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'','{"cpus":"0-1"}','trials/6.log');
INSERT INTO trials VALUES(1,7,'search',0,'bayes','{"batch_size":96,"compile":true,"precision":"bf16","rate":0.1}','interrupted',1,'token-7',1700000420.0,1700000450.0,30.0,0.010000000000000000208,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'','{"cpus":"0-1"}','trials/7.log');
INSERT INTO trials VALUES(1,8,'confirm_incumbent',1,'confirm','{"batch_size":128,"compile":true,"precision":"bf16","rate":0.1}','completed',1,'token-8',1700000480.0,1700000510.0,30.0,0.010000000000000000208,2,1010.0,0.002020000000000000094,10.099999999999999644,1.0099999999999999861e-05,'{"status":"steady","seconds_per_sample":0.00101,"half_width_s":1.01e-05,"startup_s":2.5,"warmup_s":4.0,"window_s":20.0,"window_steps":400.0,"window_samples":25600.0,"total_samples":32000.0,"metrics":{"loss":1.25}}',1500000000.0,0.5,0.010000000000000000208,'','{"cpus":"0-1"}','trials/8.log');
INSERT INTO trials VALUES(1,9,'confirm_baseline',1,'confirm','{"batch_size":64,"compile":true,"precision":"bf16","rate":0.1}','completed',1,'token-9',1700000540.0,1700000570.0,30.0,0.010000000000000000208,2,1990.0,0.0039800000000000000308,19.899999999999998578,1.9899999999999999205e-05,'{"status":"steady","seconds_per_sample":0.00199,"half_width_s":1.99e-05,"startup_s":2.5,"warmup_s":4.0,"window_s":20.0,"window_steps":400.0,"window_samples":25600.0,"total_samples":32000.0,"metrics":{"loss":1.25}}',1500000000.0,0.5,0.010000000000000000208,'','{"cpus":"0-1"}','trials/9.log');
INSERT INTO trials VALUES(1,10,'search',0,'bayes','{"batch_size":112,"compile":true,"precision":"bf16","rate":0.1}','running',1,'token-10',1700000600.0,0.0,0.0,0.0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'','{"cpus":"0-1"}','');
INSERT INTO trials VALUES(1,11,'search',0,'bayes','{"batch_size":120,"compile":true,"precision":"bf16","rate":0.1}','launching',1,'token-11',1700000660.0,0.0,0.0,0.0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'','{}','');
CREATE TABLE nights (
  study TEXT NOT NULL,
  night INTEGER NOT NULL CHECK (night >= 1),
  started_wall_s REAL NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'kept', 'improved', 'regressed', 'failed')),
  record TEXT NOT NULL,
  PRIMARY KEY (study, night)
) STRICT, WITHOUT ROWID;
INSERT INTO nights VALUES('resnet-nightly',1,1000.0,'kept','{"study":"resnet-nightly.night-1"}');
CREATE TABLE unused_times (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  machine TEXT NOT NULL,
  from_wall_s REAL NOT NULL,
  to_wall_s REAL NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (study_id, machine, from_wall_s)
) STRICT, WITHOUT ROWID;
INSERT INTO unused_times VALUES(1,'resnet-nightly-0a1b2c3d-t2-a1',1700000120.0,1700000165.0,0.25);
CREATE TABLE decisions (
  study_id INTEGER NOT NULL REFERENCES studies (id),
  decision INTEGER NOT NULL CHECK (decision >= 1),
  at_wall_s REAL NOT NULL,
  kind TEXT NOT NULL,
  trial INTEGER,
  text TEXT NOT NULL,
  numbers TEXT NOT NULL,
  PRIMARY KEY (study_id, decision)
) STRICT, WITHOUT ROWID;
INSERT INTO decisions VALUES(1,1,1700000030.0,'guard',1,'','{"metric":"loss","max":1.2,"baseline":1.0}');
INSERT INTO decisions VALUES(1,2,1700000570.0,'judge',9,'batch_size=128 compile=true precision=bf16 rate=0.1','{"verdict":"open","settled":false,"pairs":1,"ratio":1.9702970297029703,"low":null,"high":null,"low_if_buffered":null}');
CREATE INDEX trials_by_status ON trials (study_id, status, objective_1);
CREATE INDEX trials_that_decide ON trials (study_id)
  WHERE purpose IN ('baseline', 'sentinel', 'confirm_incumbent', 'confirm_baseline');
CREATE TRIGGER trial_inserted AFTER INSERT ON trials BEGIN
  INSERT INTO status_counts VALUES (new.study_id, new.status, 1)
    ON CONFLICT (study_id, status) DO UPDATE SET trials = trials + 1;
END;
CREATE TRIGGER trial_changed AFTER UPDATE OF status ON trials WHEN old.status <> new.status BEGIN
  UPDATE status_counts SET trials = trials - 1
    WHERE study_id = old.study_id AND status = old.status;
  INSERT INTO status_counts VALUES (new.study_id, new.status, 1)
    ON CONFLICT (study_id, status) DO UPDATE SET trials = trials + 1;
END;
CREATE TRIGGER trial_deleted AFTER DELETE ON trials BEGIN
  UPDATE status_counts SET trials = trials - 1
    WHERE study_id = old.study_id AND status = old.status;
END;
COMMIT;
PRAGMA application_id=1398034516;
PRAGMA user_version=9;
